"""What makes a statement sensitive, in English and Chinese, and who heard what is made of several sayings."""

from __future__ import annotations

import pytest

from pipelines.notes.privacy import NOBODY, heard_by_all, heard_by_any, sensitivity_of


@pytest.mark.parametrize(
    ("statement", "wanted"),
    [
        ("I am allergic to peanuts.", "health"), ("我对花生过敏。", "health"), ("I take 50 mg of sertraline every morning.", "health"), ("她确诊了糖尿病。", "health"),
        ("My salary is 82,000 euros.", "finance"), ("我的月薪是三万。", "finance"), ("I owe the bank 4,000 dollars.", "finance"), ("我还有二十年房贷。", "finance"),
        ("The password of the vault is in the safe.", "credentials"), ("服务器密码放在保险柜里。", "credentials"), ("My recovery codes are on paper.", "credentials"),
        ("My wife works nights.", "persons"), ("Lee's birthday is 3 May.", "persons"), ("我女儿上三年级。", "persons"), ("她的生日是五月三日。", "persons"),
        ("The staging database listens on port 5433.", "normal"), ("We deploy on Mondays.", "normal"), ("The health check answers on /healthz.", "normal"),
        ("The payments service keeps its token budget at 4000.", "normal"), ("Never run migrations from a laptop.", "normal"), ("我们周一部署。", "normal"),
        ("The account service runs on Kubernetes.", "normal"), ("Prefer tabs over spaces.", "normal"), ("The password reset form has a test.", "normal"),
        ("支付服务监听 8443 端口。", "normal"), ("The loan calculator page is slow.", "normal"),
    ],
)  # fmt: skip
def test_words_make_a_statement_sensitive(statement: str, wanted: str) -> None:
    assert sensitivity_of("fact", "", "", statement) == wanted


def test_a_subject_alone_makes_it_sensitive() -> None:
    assert sensitivity_of("fact", "user", "allergy", "Peanuts.") == "health"
    assert sensitivity_of("fact", "user", "blood_type", "It is A.") == "health"


def test_a_command_is_about_a_machine_but_for_what_it_says_of_secrets() -> None:
    assert sensitivity_of("procedure", "", "", "Run `hospital-sim --seed 3`.") == "normal"
    assert sensitivity_of("procedure", "", "", "Read the password from the vault.") == "credentials"


def test_a_claim_is_for_those_who_heard_all_of_it() -> None:
    assert heard_by_all([]) == heard_by_all(["", ""]) == ""
    assert heard_by_all(["work", ""]) == "work"
    assert heard_by_all(["home,work", "work"]) == "work"
    assert heard_by_all(["home", "work"]) == NOBODY


def test_a_note_is_for_those_who_heard_one_of_its_claims() -> None:
    assert heard_by_any([""]) == heard_by_any([]) == ""
    assert heard_by_any(["work", "home", "work"]) == "home,work"
    assert heard_by_any(["work", ""]) == "*,work"
    assert heard_by_any([NOBODY]) == NOBODY
    assert heard_by_any([NOBODY, "work"]) == "work"
