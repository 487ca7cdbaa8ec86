"""Long sentences that add something to what was said, leave out what binds it, or tell as so what is only meant: they stay drafts whatever a check says."""

import pytest

from pipelines.gates import follows_gate
from pipelines.gates.follows import FREELY_WORDED
from pipelines.model import Kind, Outcome

from .build import by_uid, claim, turn

HEATING = "the heating in the lab is serviced each March by two technicians, they need the key from the porter"
PARTS = (
    ("The heating in the lab is serviced each March by two technicians because the insurance insists, they need the key from the porter.", HEATING),
    ("The heating and the boiler in the lab are serviced each March by two technicians, they need the key from the porter.", HEATING),
    ("The heating in the lab is serviced each March by two technicians, they need the key from the porter and pay a deposit.", HEATING),
    (
        "Die Heizung im Labor wird im März von zwei Technikern gewartet, weil sie sonst knackt und tropft.",
        "die Heizung im Labor wird im März von zwei Technikern gewartet",
    ),
    ("El informe se envía los martes a contabilidad porque el banco cierra temprano.", "el informe se envía los martes a contabilidad"),
    ("Le rapport part le mardi à la comptabilité parce que la banque ferme tôt.", "le rapport part le mardi à la comptabilité"),
    ("实验室的暖气三月份由两个技术员检修，因为保险公司要求。", "实验室的暖气三月份由两个技术员检修"),
    ("实验室的暖气和锅炉三月份由两个技术员检修。", "实验室的暖气三月份由两个技术员检修"),
)
"""A part of its own, behind a comma, "and" or "because"."""
JOINED = (
    ("Wanda and the caretaker moved the archive to the vault.", "Wanda moved the archive to the vault"),
    ("The user goes to the market with a colleague on Saturdays.", "I go to the market on Saturdays"),
    ("Releases of the mobile app go out on Thursdays.", "releases go out on Thursdays"),
    ("生产环境的缓存保留两天。", "缓存保留两天"),
    ("El informe y la factura se envían los martes a contabilidad.", "el informe se envía los martes a contabilidad"),
    ("The heating is serviced each March and runs on diesel.", "the heating is serviced each March"),
)
"""One more beside what was said, or a place nobody named."""
BINDING = (
    (Kind.RULE, "Guests use the front door, the alarm is on.", "guests use the front door, except when the alarm is on"),
    (Kind.RULE, "Guests use the front door, also when the alarm is on.", "guests use the front door, except when the alarm is on"),
    (Kind.FACT, "The lift runs on weekends.", "the lift runs on weekends, except during the holidays"),
    (Kind.RULE, "The oven may be opened.", "the oven may be opened only after the lamp has gone out"),
    (Kind.PLAN, "Wir wollen den Aufzug erneuern.", "wir wollen den Aufzug erneuern, sobald der Vermieter zustimmt"),
    (Kind.FACT, "Der Aufzug fährt am Wochenende.", "der Aufzug fährt am Wochenende, außer in den Ferien"),
    (Kind.FACT, "El ascensor funciona los domingos.", "el ascensor funciona los domingos, salvo en agosto"),
    (Kind.FACT, "L'ascenseur marche le dimanche.", "l'ascenseur marche le dimanche, sauf en août"),
    (Kind.RULE, "访客走正门。", "访客走正门，周末例外"),
    (Kind.FACT, "The lift runs.", "the lift runs until 2030"),
    (Kind.RULE, "Guests use the front door.", "provided nobody sleeps, guests use the front door"),
    (Kind.PREFERENCE, "The user prefers the stairs.", "when the lift is full I prefer the stairs"),
)
"""(kind, told, said): what binds it is gone, or taken back."""
MEANT = (
    ("The archive moved to the new vault.", "we want to move the archive to the new vault"),
    ("The user sells the boat in spring.", "I plan to sell the boat in spring"),
    ("Das Archiv zieht in den neuen Tresor um.", "wir möchten mit dem Archiv in den neuen Tresor umziehen"),
    ("El usuario vende el barco en primavera.", "quiero vender el barco en primavera"),
    ("档案搬到新的库房。", "我们打算把档案搬到新的库房"),
    ("The archive moved to the new vault.", "the archive will move to the new vault"),
    ("The user sells the boat in spring.", "I will sell the boat in spring"),
    ("Das Archiv zieht in den neuen Tresor um.", "wir werden mit dem Archiv in den neuen Tresor umziehen"),
    ("El usuario vende el barco.", "voy a vender el barco"),
    ("L'utilisateur vend le bateau.", "je compte vendre le bateau"),
    ("Das Archiv zieht in den neuen Tresor um.", "weil das Archiv in den neuen Tresor umziehen will"),
)
"""What is meant, as so."""
GENERAL = (
    ("The lift sticks on the third floor every morning.", "the lift sticks on the third floor in the morning"),
    ("El ascensor siempre se para en el tercer piso.", "el ascensor casi siempre se para en el tercer piso"),
    ("电梯总是停在三楼。", "电梯经常停在三楼"),
    ("The lift always sticks on Mondays.", "the lift sticks on Mondays"),
)
SAME = (
    (Kind.FACT, "The heating in the lab is serviced each March by two technicians, who need the key from the porter.", HEATING),
    (Kind.FACT, "The cache is cleared at midnight.", "it is cleared at midnight"),
    (Kind.RULE, "Guests use the front door unless the alarm is on.", "guests use the front door, unless the alarm is on"),
    (Kind.RULE, "Always run the linter before a commit.", "from now on run the linter before a commit"),
    (Kind.FACT, "The lift always sticks on the third floor.", "every time, the lift sticks on the third floor"),
    (Kind.PLAN, "The team wants to move the archive to the new vault.", "we want to move the archive to the new vault"),
    (Kind.FACT, "L'utilisateur prend le bus le mardi.", "je prends le bus le mardi"),
    (Kind.FACT, "Das Team trifft sich dienstags im Keller.", "wir treffen uns dienstags im Keller, das Team mag das"),
    (Kind.FACT, "The gate closes by itself after ten seconds.", "the gate will close by itself after ten seconds"),
    (Kind.FACT, "The pump tries again three times.", "the pump will try again three times"),
    (Kind.FACT, "The user's shop opens in June.", "my shop will open in June"),
    (Kind.FACT, "The fair is in the valley and lasts three days.", "the fair is three days in the valley"),
    (Kind.FACT, "The user goes to the library on Sundays.", "I'm going to the library on Sundays"),
    (Kind.FACT, "El usuario va a la biblioteca los domingos.", "voy a la biblioteca los domingos"),
    (Kind.FACT, "L'utilisateur va à la piscine le dimanche.", "je vais à la piscine le dimanche"),
    (Kind.FACT, "L'utilisateur est à la banque postale.", "mon compte est à la banque postale"),
    (Kind.FACT, "Die Briefe kommen per Post.", "die Briefe werden abends verschickt, sie kommen per Post"),
    (Kind.FACT, "电梯在夜里停运。", "电梯会在夜里停运"),
    (Kind.FACT, "The user works at the harbor.", "I want to move to Rome. I work at the harbor"),
    (Kind.FACT, "The user works at the harbor.", "I work at the harbor and I want to move to Rome"),
    (Kind.FACT, "The user's garden is in the valley.", "I bike to work, except on ice. My garden is in the valley"),
    (Kind.FACT, "The seeds of the nursery come in bags.", "the seeds provided by the nursery come in bags"),
    (Kind.FACT, "用户会说英语和法语。", "除了英语我还会说法语"),
    (Kind.FACT, "The user worked at the harbor from 2010 to 2015.", "I worked at the harbor from 2010 until 2015"),
    (Kind.PREFERENCE, "The user likes people to be direct.", "I like it when people are direct"),
    (Kind.PLAN, "The user wants to call the nursery every week.", "I want to call the nursery once a week, every week"),
    (Kind.GOAL, "The team wants to empty the cellar quickly.", "we want to empty the cellar as soon as possible, quickly"),
    (Kind.FACT, "Development of the map began in May.", "we began developing the map in May"),
    (Kind.FACT, "The map renders locally, not in the browser.", "the map renders on my laptop, not in the browser"),
    (Kind.FACT, "The letter goes out every month.", "the letter goes out monthly"),
    (Kind.FACT, "The user meets the choir every Monday.", "I meet the choir on Mondays"),
    (Kind.FACT, "用户每天跑步。", "我天天跑步"),
    (Kind.FACT, "The user's brother lives in Kyoto and works as a nurse.", "my brother lives in Kyoto, he's a nurse"),
    (Kind.FACT, "The records are rotated daily and kept for a month.", "records get rotated daily, we keep them a month"),
    (Kind.FACT, "El usuario vive en la sierra con su hermana.", "vivo en la sierra con mi hermana"),
    (Kind.FACT, "L'utilisateur vit au village avec sa famille.", "je vis au village avec ma famille"),
)
"""(kind, told, said): nothing more and nothing less."""


def word(statement: str, text: str, kind: Kind = Kind.FACT) -> tuple[Outcome, str]:
    said = turn(text)
    found = follows_gate(claim(statement, said, kind=kind), by_uid(said))
    return found.outcome, found.why


@pytest.mark.parametrize(("statement", "text"), [*PARTS, *JOINED])
def test_what_a_sentence_adds_keeps_it_a_draft(statement: str, text: str) -> None:
    assert word(statement, text) == (Outcome.DRAFT, "says_more")


@pytest.mark.parametrize(("kind", "statement", "text"), BINDING)
def test_what_no_longer_says_what_it_is_bound_to_is_a_draft(kind: Kind, statement: str, text: str) -> None:
    assert word(statement, text, kind) == (Outcome.DRAFT, "condition_dropped")


@pytest.mark.parametrize(("statement", "text"), MEANT)
def test_what_somebody_means_to_do_is_no_state(statement: str, text: str) -> None:
    assert word(statement, text) == (Outcome.DRAFT, "intention_told_as_state")


@pytest.mark.parametrize(("statement", "text"), GENERAL)
def test_always_is_more_than_usually(statement: str, text: str) -> None:
    assert word(statement, text) == (Outcome.DRAFT, "made_general")


@pytest.mark.parametrize(("kind", "statement", "text"), SAME)
def test_what_says_the_same_is_not_held_for_it(kind: Kind, statement: str, text: str) -> None:
    assert word(statement, text, kind)[1] in {"", FREELY_WORDED}
