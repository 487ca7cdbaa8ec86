"""Text that orders the reader about, in several languages; how sure that is depends on who speaks, which is the gate's to weigh."""

from __future__ import annotations

import re

from pipelines.text.mood import Mood, mood_of, standing_mark
from pipelines.text.sentences import sentences

_A, _Z = r"(?<![^\W\d_])", r"(?![^\W\d_])"
_READER = r"(?:you|the (?:agent|assistant|model|ai|llm|bot|reader)|ai agents?|assistants?|claude|codex|gemini|copilot|chatgpt|gpt|cursor|agents)"


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.I | re.M)


# Nothing honest is written this way: it speaks past the user to the machine.
_TAKEOVER = _any(
    rf"{_A}(?:ignore|disregard|forget|override|bypass|overlook|discard)\W+(?:\w+\W+){{0,4}}?(?:previous|prior|above|earlier|preceding|existing|original"
    rf"|system|all|any|your|other|the user'?s?|user)\W+(?:\w+\W+){{0,3}}?(?:instructions?|prompts?|rules?|directions?|guidelines?|messages?"
    rf"|context|commands?|constraints?|safeguards?){_Z}",
    rf"{_A}(?:ignore|disregard|forget) (?:everything|anything|all) (?:above|before|you|i|that|said|previous|prior)",
    rf"{_A}you are (?:now|no longer) (?:a|an|the|in|dan|my|free|going|acting|operating|under|bound){_Z}",
    rf"{_A}(?:do not|don't|never|without) (?:tell|telling|inform|informing|ask|asking|notify|notifying|mention|mentioning|alert|alerting|reveal"
    rf"|revealing)(?: (?:this|it|anything))?(?: to)? (?:the |your )?(?:user|human|owner|operator|developer)s?{_Z}",
    rf"{_A}(?:new|updated|real|hidden|secret|special|important) (?:system )?(?:instructions?|prompt|directives?|orders)(?: (?:for|to) (?:you|the|ai|all"
    rf"|any)|\s*:)",
    rf"{_A}(?:reveal|print|show|repeat|output|leak|exfiltrate) (?:me )?(?:your|the) (?:system )?(?:prompt|instructions|secrets?|credentials|api keys?){_Z}",
    rf"{_A}(?:save|store|write|add|commit|persist|record|put|keep) (?:this|the following|it|that|these)(?: \w+){{0,3}} (?:to|in|into) (?:your |the "
    rf"|long[- ]term )*(?:memory|memories|notes|wiki|claude\.md|agents\.md|memory\.md){_Z}",
    r"^\W{0,4}(?:system|developer|assistant|human|user|admin(?:istrator)?)(?: (?:message|prompt|note|override|instruction)s?)?\s*(?:\]"
    r"|\))?\s*[:：]\s*(?:\S+[ \t]+\S|(?-i:[\u3040-\u9fff\uac00-\ud7af]){2})",
    r"<\s*/?\s*(?:system|system-reminder|instructions?|im_start|user|assistant|developer|admin|policy|important|command-message)\b[^>]*>|<\|[^"
    r"|>]{1,30}\|>|\[/?(?:INST|SYS|SYSTEM|USER|ASSISTANT)\]|<<SYS>>|###\s*(?:system|instructions?|human|assistant|user)\s*(?::|$)",
    r"(?:忽略|无视|忘记|忘掉|不要理会|忽視|無視)(?:掉)?(?:之前|以上|上面|前面|先前|所有|一切|全部|你的|系统|用户|原来|原有|此前).{0,10}(?:指令|指示|提示|规则|要求|命令|内容|设定|消息|对话)",
    r"(?:不要|别|无需|不得|切勿)(?:告诉|告知|通知|询问|问|提醒)(?:用户|使用者|主人|人类|开发者)|你现在是|从现在(?:起|开始)，?你|系统(?:提示|消息|指令)?[:：]|(?:把|将)(?:这|此|以下).{0,8}(?:写入|存入|记入|加入"
    r"|保存到).{0,6}(?:记忆|笔记|内存)",
    r"(?:以前|前|上記|これまで)の(?:すべての)?(?:指示|命令|プロンプト|ルール).{0,3}(?:を)?(?:無視|忘れ)|ユーザー(?:に|へ)(?:は)?(?:知らせ|伝え|言わ)ない|(?:이전|위|앞선|기존)의?\s?(?:모든\s?)?(?:지시|명령|지침|프롬프트"
    r"|규칙).{0,4}(?:무시|잊)|사용자에게\s?알리지",
    rf"{_A}(?:ignorier|vergiss|missacht)\w*\s+(?:\w+\s+){{0,3}}?(?:vorherig|bisherig|obig|vorigen|früher|alle)\w*\s*(?:\w+\s*)?(?:anweisung|instruktion"
    rf"|regel|befehl)\w*",
    rf"{_A}(?:ignore[zr]?|oublie[zr]?)\s+(?:\w+\s+){{0,3}}?(?:instructions?|consignes?|règles?|ordres?)(?:\s+(?:précédent|antérieur|ci-dessus)\w*)?{_Z}",
    rf"{_A}(?:ignora|ignore|olvida|olvide|desconsidere|esqueça|dimentica)\s+(?:\w+\s+){{0,3}}?(?:instrucciones|instruções|istruzioni|reglas|regras|regole"
    rf"|órdenes|ordens)",
    rf"{_A}(?:игнорируй|игнорируйте|забудь|забудьте)\s+(?:\w+\s+){{0,3}}?(?:инструкци|указани|правил|команд|сообщени)\w*",
    r"(?:تجاهل|انس|تجاهلي)\s+(?:\S+\s+){0,2}?(?:التعليمات|الأوامر|القواعد)|(?:पिछले|पहले के|सभी)\s+(?:\S+\s+)?(?:निर्देशों|नियमों)",
)
# An order to the reader, which a page, a tool's output or a model may give innocently, but which no user said.
_ADDRESSED = _any(
    rf"{_A}{_READER}(?:'ll)? (?:must|should|shall|need to|needs to|have to|has to|are (?:required|instructed|expected|supposed|ordered|obliged) to"
    rf"|is (?:required|instructed|expected|ordered) to|will (?:always|never|now|henceforth)|may never|can never|ought to)(?: (?:always|never"
    rf"|now|also|not))?{_Z}",
    rf"{_A}(?:from now on|going forward|henceforth|from this point on|in all future)\b,? *(?:\w+ ){{0,3}}?(?:you|always|never|must|use|do|the (?:agent"
    rf"|assistant)|reply|respond|answer|treat|run|deploy)",
    rf"{_A}(?<!\bi )(?<!\bto )(?<!\bcan )(?:make sure|be sure|ensure|remember|take care|don't forget|do not forget)(?: (?:that )?you)? (?:to|that|you|never|always){_Z}",
    rf"{_A}(?:important|attention|note to|message (?:to|for)|instructions? (?:to|for)) (?:all )?{_READER}",
    r"(?:你|您|助手|代理|模型|智能体|Claude)(?:们)?(?:必须|应该|应当|务必|一定要|不得|不能|不可以|需要|要|绝不能|永远不要)|^\W{0,8}(?:务必|必须|一律|切勿|严禁|禁止|请务必|永远不要|今后|以后(?:都|一律|请)?)|从现在(?:起|开始)",
    rf"{_A}(?:du|sie) (?:musst|müssen|sollst|sollten|darfst)|{_A}ab (?:sofort|jetzt){_Z}|{_A}(?:verwende|benutze|lösche|führe|antworte|deploye) (?:immer"
    rf"|nie|niemals|stets){_Z}",
    rf"{_A}(?:tu dois|vous devez|désormais|à partir de maintenant|dorénavant)|{_A}(?:utilise|déploie|supprime|exécute"
    rf"|réponds)[zr]?\b.{{0,20}}{_A}(?:toujours|jamais){_Z}|{_A}(?:toujours|jamais) (?:utilise|déploye|exécute|répond)\w*",
    rf"{_A}(?:debes|debe usted|tienes que|a partir de ahora|de ahora en adelante|você deve|a partir de agora|d'ora in poi|devi|dovete){_Z}|{_A}(?:siempre"
    rf"|nunca|sempre|mai) (?:\w+ ){{0,2}}?(?:usa|use|despliega|ejecuta|borra|implante|execute|apague|responda|responde|rispondi|esegui)\w*"
    rf"|{_A}(?:usa|despliega|ejecuta|borra|execute|rispondi|esegui) (?:siempre|nunca|sempre){_Z}",
    rf"{_A}(?:ты должен|вы должны|отныне|с этого момента|обязательно)|{_A}(?:всегда|никогда не) (?:используй|запускай|удаляй|отвечай|деплой|развёртывай"
    rf"|выполняй)\w*",
    r"(?:今後は|これからは|必ず|常に|絶対に).{0,25}(?:こと|してください|しなければ|すること|せよ|しろ|ください|ないで)|しなければなりません|(?:앞으로|반드시|항상|절대).{0,25}(?:하세요|하십시오|해야|하라|마세요|할 것)|(?:يجب عليك"
    r"|من الآن فصاعدا|دائما)|(?:आपको|अब से|हमेशा).{0,30}(?:चाहिए|करें|करो)",
)
_STANDING_ORDER = re.compile(
    r"(?:^|[,;:.!\n][ \t]{0,8}|\b(?:and|then|so|but|please)\s+)(?:please )?(?:always|never|you (?:always|never)|don't ever|do not ever"
    r"|under no circumstances)\s+(?:\w+ly )?[a-z]+\b(?<![^s]s)(?<!ed)(?<!ing)",
    re.I,
)


# A line of a program opens with a verb too.
_CODE_LINE = re.compile(
    r"\s*(?:let\s+(?:mut\s+)?(?:\w+|[{\[][\w, ]{1,60}[}\]])\s*(?::[^=\n]{1,80})?=\s*\S|switch\s*\(|import\s+(?:type\s|[\w*{}, $]+\sfrom\s|[\"'{*(]|[\w.]+\s*;?\s*$)|export\s+(?:[*{]|const|let|var|default|type|function"
    r"|async|class|interface|enum)|return\s.*;\s*$|(?:create|delete) mode \d{6} \S+\s*$|rename \S.* => \S.*\(\d+%\)\s*$)"
)


def takeover(text: str) -> bool:
    """Whether the text speaks to the machine past its user: ignore previous instructions, fake role lines, tell nobody, write this to memory."""
    return bool(_TAKEOVER.search(text))


def addressed(text: str) -> bool:
    """Whether the text tells its reader what to do from now on: you must, from now on, make sure to, always deploy."""
    return bool(_ADDRESSED.search(text) or _STANDING_ORDER.search(text))


def imperative(text: str) -> bool:
    """Whether a sentence of the text is an order or request in form, standing or not."""
    return any(_orders(span.of(text)) for span in sentences(text))


def _orders(sentence: str) -> bool:
    if _CODE_LINE.match(sentence):
        return False
    return mood_of(sentence) is Mood.REQUEST or (standing_mark(sentence) and addressed(sentence))
