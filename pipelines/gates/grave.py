"""What an order would do: acts that cannot be taken back, that open a door or that let a safeguard fall.

Most sentences of tools and pages that are orders in form ask for nothing of the kind ("Add attributes:", "Titles must be unique"). An order for an act like
these is one whoever says it, with no "always" and in any of the languages the suite knows.
"""

from __future__ import annotations

import re

_A, _Z = r"(?<![^\W\d_])", r"(?![^\W\d_])"
# Where a clause may begin: the form of the verb is that of an order only there ("the script sends" and "fails to send" are none).
_OPENS = (
    r"(?:^[ \t]*|[.,:;!?][ \t]+|[()\[\]{}\"'“„«»`>|#•][ \t]*|(?<!\S)[*–—-]+[ \t]*"
    r"|(?<![^\W\d_])(?:now|just|please|kindly|xxx|you (?:can|may|could)|bitte|jetzt|luego|por favor|затем|сейчас|пожалуйста) +)"
)
_JOINED = r"(?<![^\W\d_])(?:and|then|und|dann|y|и) +"
_THINGS = r"\s+(?=[^\W\d_]|[`\"'“<./~$#\d])"
# What a verb that is a noun as often takes after it where it is a verb: something pointed at, an identifier, or a way and a place.
_OBJECT = (
    r"\s+(?=(?:the|all|every|each|any|your|its|it|them|this|that|these|those|everything|anything)(?![a-z])|[`\"'“<./~$]|[\w.:~-]*[\d_@/]|\S+\.\w"
    r"|\S+ (?:directly|straight|to|into|now|at once|immediately|without|yourself|on every)(?![a-z]))"
)
_VERBS = (
    r"(?:send|upload|exfiltrate|leak|reveal|delete(?! (?:mode \d|from \S+ where|file:))|erase|wipe|purge|destroy|disable|deactivate|bypass|approve|authori[sz]e|whitelist|publish|deploy"
    r"|force-push|revoke|(?:turn|switch) off)"
)
_NOUN_VERBS = r"(?:push|merge(?! pull request #\d+ from)|sign|trust|pay|forward|e-?mail|drop|release|copy|expose|transfer|grant)"
_ENGLISH = rf"(?:{_VERBS}{_THINGS}|{_NOUN_VERBS}{_OBJECT})"
_GIVES = r"(?:give|grant) +(?:\S+ +){1,4}?(?:access|rights?|permissions?|admin)(?![a-z])"
_FROM_AFAR = r"(?:curl|wget)\b[^\n|;]{0,300}\|\s*(?:sudo\s+)?(?:ba|z|da)?sh\b|(?:bash|sh)\s+<\(\s*(?:curl|wget)|(?:install|download|run|execute|source)\s+[^\n]{0,80}?\bfrom\s+(?:https?:|\S+\.\w{2,})"
_AS_ROOT = r"(?:run|execute|start)\s[^\n]{1,80}?\b(?:as (?:root|administrator)|with sudo)(?![a-z])"
_GERMAN = (
    r"(?:lösche|sende|schicke?|überweise|zahle|deaktiviere|installiere|genehmige|veröffentliche|pushe|merge|kopiere|signiere|überspringe|vertraue"
    r"|(?:löschen|senden|schicken|leiten|laden|überweisen|zahlen|deaktivieren|schalten|installieren|genehmigen|geben|veröffentlichen|kopieren|führen|signieren"
    r"|überspringen|vertrauen) sie|(?:leite|lade|schalte|führe|gib)(?= [^\n.]{1,80}? (?:weiter|hoch|ab|aus|frei|zugriff|rechte)))"
)
_ROMANCE = (
    r"(?:sub[ea]|env[íi][ae]|reenv[íi][ae]|mand[ae]|borr[ae]|elimin[ae]|instal[ae]|desactiv[ae]|conced[ae]|otorg(?:a|ue)|aprueb[ae]|ejecut[ae]|despl(?:iega|iegue)"
    r"|publi(?:ca|que)|pag(?:a|ue)|transfier[ae]|fusion[ae]|firm[ae]|comparte|supprime[zr]?|envoie|envoyez|installe[zr]?|désactive[zr]?|exécute[zr]?|déploie"
    r"|déployez|publie[zr]?|approuve[zr]?|accorde[zr]?|transfère|transférez|payez|apague|exclua|desative|aprove|transfira|invia|cancella|installa"
    r"|disattiva|concedi|approva|esegui|trasferisci)"
)
_RUSSIAN = r"(?:отправь|перешли|удали|сотри|загрузи|установи|отключи|выдай|одобри|запусти|разверни|опубликуй|выложи|оплати|переведи|скопируй|подпиши|слей|влей|выполни)(?:те)?"
_ARABIC = r"و?(?:أرسل|احذف|امسح|عطل|ثبت|ارفع|امنح|وافق|شغل|انشر|ادفع|حول|انسخ|نفذ|أوقف|ادمج)"
_CHINESE = r"(?:删除|清空|销毁|上传|发送|转发|汇款|付款|转账|禁用|停用|关闭|安装|授予|批准|合并|推送|发布|部署|执行|公开|泄露|跳过)(?![了过后时前的]|失败|成功|完成|中)"
_ORDERED = re.compile(
    rf"{_OPENS}(?:{_ENGLISH}|{_GIVES}|{_AS_ROOT}|(?:{_GERMAN}|{_ROMANCE}|{_RUSSIAN}|{_ARABIC}){_THINGS})|{_JOINED}(?:{_VERBS}|{_NOUN_VERBS})\s+(?:the|all|every|your|it|them|everything|[`/])"
    rf"|{_JOINED}(?:{_GERMAN}|{_ROMANCE}|{_RUSSIAN}|{_ARABIC}){_THINGS}|{_FROM_AFAR}"
    rf"|(?:^|[。；;，,：:！!「“\"\[(（])[^\S\n]*(?:请|现在|立即|马上|然后|接着|先|再|你|您|可以)*(?:(?:把|将|给)[^。，\n]{{1,40}}?)?{_CHINESE}"
    r"|(?:削除|送信|アップロード|インストール|無効に|承認|実行|デプロイ|マージ|公開)(?:して(?:ください|くれ)|せよ|しろ|すること)"
    r"|(?:삭제|전송|업로드|설치|비활성화|승인|실행|배포|병합|공개)(?:하세요|하십시오|해라|해 ?주세요|하라|할 것)",
    re.I | re.M,
)
# What everybody, or every agent, is said to do: a norm in the form of a report.
_EVERYBODY = re.compile(
    rf"{_A}(?:agents?|assistants?|bots?|every(?:one|body)|any(?:one|body)|nobody|no one|all (?:devs?|developers?|engineers?|members?))(?:,? (?:who|that|which))?"
    r"(?: (?:here|may|can|also|just|always|never|will)){0,3}(?: \w+ and)? "
    r"(?:sends?|uploads?|forwards?|deletes?|disables?|skips?|bypass(?:es)?|grants?|approves?|merge?s?|push(?:es)?|publish(?:es)?|deploys?|releases?|signs?|pays?|trusts?"
    rf"|reviews?|asks?|checks?|waits?|confirms?){_Z}",
    re.I,
)
# A barrier said to be missing between a change and the world.
_STRAIGHT = re.compile(
    rf"{_A}(?:straight|directly) (?:to|into|from|on(?:to)?) (?:the )?(?:prod(?:uction)?|main|master|live|(?:a |any |my )?laptops?){_Z}", re.I
)
_CONSEQUENCE = re.compile(
    rf"{_A}(?:re)?(?:deploy|push|merg|publish|releas|sign(?:s|ed|ing|ature)?{_Z}|approv|grant|trust|authori[sz]|whitelist|allowlist|delet|eras|wip(?:e|ing)|purg|destroy"
    r"|drop|disabl|deactivat|bypass|skip|suppress|overrid|overwrit|ignor|send|sent|upload|forward|transfer|pay(?:s|ing|ments?|ee)?(?![a-z])|paid|invoice|bank|wallet|exfiltrat|leak|reveal|expos"
    r"|curl|wget|sudo|root|admin|privileg|permission|access|tokens?(?![a-z])|credential|secret|passw|passphrase|ssh|keys?(?![a-z])"
    r"|sandbox|firewall|proxy|proxies|mirror|registr|vpn|prod(?:uction)?(?![a-z])|backup|polic|repl(?:y|ies)|respond|answer|tells?(?![a-z])"
    r"|say(?:s|ing)?(?![a-z])|mention|pretend|inform|notif|memor|remember|cron|webhook|dns(?![a-z]))"
    r"|https?://|--force|--no-|(?:claude|agents|memory)\.md|\.env(?![a-z])|(?<=[\w.])@\w+\."
    rf"|{_OPENS}(?:run|execute|install|download|source|eval) +\S|{_A}(?:be|is|are|get) (?:run|executed|installed|downloaded|sourced){_Z}"
    r"|(?<![a-z])(?:no|not|never|without|nobody|n't)(?![a-z])[^.\n]{0,80}?(?:review|confirm|verif|check|ask|test)",
    re.I | re.M,
)
"""A check is of consequence where there is to be none."""


def grave(text: str) -> bool:
    """Whether the text orders an act of consequence, or says that everybody does one, or that nothing stands in its way."""
    return bool(_ORDERED.search(text) or _EVERYBODY.search(text) or _STRAIGHT.search(text))


def of_consequence(text: str) -> bool:
    """Whether the text so much as names an act, a thing or a place of consequence: sending, deleting, merging, keys, a registry, what the user is told."""
    return bool(_CONSEQUENCE.search(text))
