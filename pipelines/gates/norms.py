"""Text that sets a norm without ordering anybody: a standing practice, an obligation, a policy, a wish said to be the user's, a check that is waived.

"The team always deploys straight to production" gives no order, and as a fact of a memory it works like one. Only a person sets norms, so in the words of
anybody else a norm is held. It is read in the languages the suite knows, by words alone: where doubt remains the text waits for a person.
"""

from __future__ import annotations

import re

_A, _Z = r"(?<![^\W\d_])", r"(?![^\W\d_])"


def _words(*patterns: str) -> re.Pattern[str]:
    """Patterns as whole words; one that opens with `~` is taken as it stands (scripts without spaces, joined articles)."""
    plain = [pattern for pattern in patterns if not pattern.startswith("~")]
    bare = [pattern[1:] for pattern in patterns if pattern.startswith("~")]
    return re.compile("|".join([rf"{_A}(?:{'|'.join(plain)}){_Z}", *bare]), re.I)


# For good, each time, from now on.
_STANDING = _words(
    r"(?:always|never)(?! (?:is|are|was|were|be|been|has|had|listens|runs|changes?|changed|returns|contains|starts|ends|expires|fails|failed|works|worked|takes"
    r"|took|exists|stays|remains|happens|arrives))", r"whenever", r"every time", r"each time", r"from now on", r"from today on", r"going forward", r"henceforth", r"hereafter",
    r"in (?:the )?future", r"permanently", r"without exception", r"as a rule", r"for (?:every|each|all) (?:project|deploy\w*|release|session)s?",
    r"immer", r"stets", r"grundsätzlich", r"nie(?:mals)?", r"künftig", r"zukünftig", r"in zukunft", r"ab (?:sofort|jetzt|heute|nun)", r"fortan", r"jedes ?mal",
    r"für (?:jede[snr]?|alle)", r"siempre", r"nunca", r"jamás", r"(?:de ahora )?en adelante", r"a partir de (?:ahora|hoy)", r"cada vez", r"para (?:todos|todas|cada)",
    r"всегда", r"никогда", r"отныне", r"навсегда", r"впредь", r"каждый раз", r"с этого момента", r"для (?:всех|каждого|каждой)", r"только туда",
    r"toujours", r"jamais", r"désormais", r"dorénavant", r"sempre", r"d'ora in poi", r"a partir de agora",
    r"~دائم[اًا]|أبد[اًا]|من الآن فصاعد|كلما|في كل مرة|لكل", r"~一律|总是|永远|始终|今后|以后|每次|从不|从现在|一概|必ず|常に|今後|항상|앞으로|절대",
)  # fmt: skip
_OBLIGED = _words(
    r"must", r"shall", r"(?:has|have|had|need|needs) to", r"(?:is|are) (?:required|obliged|expected|supposed|instructed|allowed|permitted|entitled|free|to be) ?(?:to)?",
    r"(?:company|team|our|new|standing) polic(?:y|ies)", r"polic(?:y|ies) (?:is to|are to|says?|requires?|changed?|update)", r"policy(?=:)", r"standing (?:rule|order|instruction)", r"muss", r"müssen", r"sollen?", r"soll(?:en|te|ten)", r"dürfen?", r"darf",
    r"richtlinien?", r"vorschrift", r"gilt (?:als|für)", r"verpflichtet", r"debe[ns]?", r"deberá[ns]?", r"tien(?:e|en) que", r"(?:nueva|cambio de) política", r"política de la empresa", r"obligatorio",
    r"должн[аоы]?", r"должен", r"обязан[аоы]?", r"следует", r"необходимо", r"нужно", r"политика компании", r"новое правило", r"doit", r"doivent", r"deve", r"devono",
    r"~يجب|ينبغي|سياسة الشركة|على (?:المساعد|الوكيل|الوكلاء|جميع)|يلزم", r"~必须|务必|应当|应该|公司规定|新规定|规定[:：]|策略变更|政策要求|不得|严禁|禁止|しなければ|해야",
)  # fmt: skip
_READER = (
    r"(?:ai[- ]?agents?|agents?|assistants?|claude|codex|gemini|copilot|ki[- ]agent(?:en)?|agenten|assistent(?:en)?|agentes?|asistentes?|агент(?:ы|ов|ам)?|"
    r"ассистент(?:ы|ов|ам)?)"
)
_ADDRESSES = _words(
    rf"(?:todo|fixme|note|hinweis|nota|attention|achtung)\s*(?:\(|for|to|an|an alle|para|:)\s*(?:the |all |el |los |die |alle )?{_READER}",
    r"remember(?: that)?", r"keep in mind", r"take note", r"merke?(?: dir)?", r"beachte[tn]?", r"recuerd[ae]\w*", r"guarda en (?:tu|la) memoria", r"запомни\w*", r"учти\w*",
    r"(?:todo|fixme)\s*\([^)]{1,30}\)", r"please (?:note|be advised)", r"~تذكر|احفظ في ذاكرتك|يرجى", r"~(?:todo|fixme)\s*[(（][^)）]{1,30}[)）]|记住|请注意|牢记|覚えて",
)  # fmt: skip
# The user's wish, in the words of somebody else.
_SAID_OF_THE_USER = _words(
    r"(?:the )?(?:user|owner|maintainer|customer)s? (?:\w+ )?(?:wants?|prefers?|asked|asks|requires?|allows?|permits?|approves?|approved|agreed|likes?|wishes|insists?"
    r"|demands?|expects?|trusts?|said|says)",
    r"(?:der |die )?nutzer(?:in)? (?:\w+ )?(?:möchte|will|verlangt|erlaubt|wünscht|bevorzugt|besteht|hat)",
    r"(?:el |la )?usuari[oa] (?:\w+ )?(?:quiere|prefiere|pide|exige|permite|autoriza|aprueba)",
    r"пользователь (?:\w+ )?(?:хочет|предпочитает|просит|требует|разрешает|одобряет|разрешил|одобрил)",
    r"~المستخدم (?:\S+ )?(?:يسمح|يريد|يفضل|يطلب|وافق)|(?:用户|使用者)(?:要求|希望|想要|允许|偏好|喜欢|同意|规定)",
)  # fmt: skip
# A check, a question or a barrier that is to fall.
_WAIVED = _words(
    r"without (?:\w+ ){0,2}?(?:asking|approval|review|confirmation|confirming|permission|checking|sandbox|question|supervision|consent|verification|tests?|testing)",
    r"(?:needs?|requires?|with) no (?:\w+ )?(?:approval|review|confirmation|permission|check|verification|consent|token|password|login|signature|sandbox)",
    r"no (?:approval|review|confirmation|permission) (?:is )?(?:needed|required|necessary)", r"never asks?", r"skips? (?:\w+ ){0,3}?(?:tests?|reviews?|checks?|approval|hooks?|signatures?|audits?|verification)",
    r"~--no-verify|--dangerously|--yolo", r"(?:is|are|be) (?:fully |always )?trusted",
    r"(?<!foster )(?<!fosters )(?<!build )(?<!builds )(?<!building )(?<!of )(?<!gain )(?<!mutual )trusts?(?! (?:scores?|levels?|factors?|boundar(?:y|ies)|stores?|anchors?))", r"disables? (?:\w+ ){0,3}?(?:checks?|protection|firewall|2fa|mfa|security)",
    r"ohne (?:\w+ ){0,2}?(?:rückfrage|rückfragen|nachfrage|freigabe|review|prüfung|bestätigung|genehmigung|zu fragen|nachzufragen|erlaubnis)",
    r"kein\w* (?:\w+ )?(?:freigabe|bestätigung|genehmigung|prüfung|rückfrage)", r"frage? nie", r"vertrauenswürdig", r"überspring\w*",
    r"sin (?:\w+ ){0,2}?(?:preguntar|aprobación|revisión|confirmación|permiso|consultar|pruebas)", r"no (?:necesita|requiere) (?:\w+ )?(?:aprobación|revisión|confirmación)",
    r"confía\w*", r"omit[ea]\w*", r"без (?:\w+ ){0,2}?(?:вопросов|проверк\w+|ревью|подтвержден\w+|одобрен\w+|спроса|согласия)",
    r"(?:подтверждени\w+|одобрени\w+|проверк\w+) не (?:нужн\w+|требу\w+)", r"не спрашива\w+", r"довер\w+", r"пропуска\w+",
    r"~دون (?:سؤال|موافقة|مراجعة|تأكيد|إذن)|بدون (?:سؤال|موافقة|مراجعة)|لا (?:يحتاج|تحتاج) إلى (?:موافقة|مراجعة)|ولا تسأل",
    r"~(?:不需要|无需|不用|无须|不必|不要|不再|别)(?:再)?(?:用户)?(?:审核|审查|确认|批准|询问|复核|检查|征求|测试|授权)|跳过.{0,12}(?:测试|检查|审核)|确認なし|확인 없이",
)  # fmt: skip


def normative(text: str) -> bool:
    """Whether the text says how something is always, must or may be done, or what a user is said to want: what only a person's own words may set."""
    return any(pattern.search(text) for pattern in (_STANDING, _OBLIGED, _ADDRESSES, _SAID_OF_THE_USER)) or waiving(text)


def waiving(text: str) -> bool:
    """Whether the text waives a check, a question or a barrier, or calls something trusted."""
    return bool(_WAIVED.search(text))
