"""Gate for what does harm when it is believed of the wrong person: where money goes, who may do what, how credentials and safeguards are handled."""

from __future__ import annotations

import re
from collections.abc import Mapping

from pipelines.model import Claim, GateResult, Origin, Outcome, Turn

from .evidence import located, result
from .unveil import plainly

SENSITIVE = "sensitive_change"
_A, _Z = r"(?<![^\W\d_])", r"(?![^\W\d_])"
_SENSITIVE = re.compile(
    "|".join(
        (
            # money
            rf"{_A}(?:iban|bic|swift|bank (?:account|details)|account (?:number|details)|routing number|wire transfer|payee|payout|wallet address|"
            rf"(?:pay|paid|transfer|send) (?:\w+ ){{0,6}}?(?:account|iban|wallet)|(?:bitcoin|btc|eth|crypto) (?:address|wallet)){_Z}",
            rf"{_A}(?:bankverbindung|kontonummer|bankkonto|überweis\w*|zahlungsempfänger\w*|cuenta bancaria|número de cuenta|transfer(?:ir|encia) \w+|"
            rf"расчётн\w+ сч[её]т\w*|реквизит\w*|оплачива\w+|перевод\w* на сч[её]т){_Z}",
            r"(?:收款|付款|银行)(?:账户|帐户|账号|卡号)|账户已?变更|打款|汇款|转账|الحساب المصرفي|رقم الحساب|تحويل (?:جميع )?(?:الفواتير|المبلغ|الأموال)",
            # who may do what
            rf"{_A}(?:grants?|gives?|gets?|has|have|need|with|add) (?:\w+ ){{0,4}}?(?:admin(?:istrator)?|root|sudo|owner|write|full|unrestricted) (?:access|rights?|permissions?|role){_Z}",
            rf"{_A}(?:admin(?:istrator)? (?:access|rights)|root access|sudoers|chmod 777|as root){_Z}",
            rf"{_A}(?:administratorrechte|adminrechte|root-rechte|zugriffsrechte|acceso de administrador|permisos de (?:root|administrador)|"
            rf"прав\w* администратора|от имени root|root-доступ){_Z}",
            r"管理员权限|最高权限|root ?权限|用 ?root|صلاحيات (?:الجذر|المسؤول|المدير)",
            # credentials and safeguards
            rf"{_A}(?:password|passphrase|credentials?|api[ _-]?keys?|(?:deploy|access|secret|signing|private|ssh) keys?|(?:access|auth|bearer|deploy) tokens?){_Z}",
            rf"{_A}(?:(?:turn|switch|turned|switched|is|are|be) off|disabled?s?|bypass\w*) (?:\w+ ){{0,3}}?(?:2fa|mfa|firewall|antivirus|auth\w*|tls|ssl|certificate){_Z}",
            rf"{_A}(?:firewall|2fa|mfa|auth\w*|audit log) (?:\w+ ){{0,4}}?(?:removed|deleted|dropped|opened|off|disabled|gone|bypassed){_Z}|{_A}open to (?:every(?:one|body)|any(?:one|body)|the (?:world|public)){_Z}",
            rf"{_A}(?:passw[oö]rt\w*|zugangsdaten|kennwort|contraseñas?|credenciales|парол\w+|учётн\w+ данн\w+|ключ\w* доступа){_Z}",
            r"密码|密钥|凭证|凭据|口令|كلمة المرور|بيانات الاعتماد|مفتاح الوصول",
        )
    ),
    re.I,
)  # fmt: skip


def sensitive(text: str) -> bool:
    """Whether the text speaks of where money goes, who may do what, or how credentials and safeguards are handled."""
    return bool(_SENSITIVE.search(text))


def sensitive_gate(claim: Claim, turns: Mapping[str, Turn]) -> GateResult:
    """QUARANTINE what others than the user say of money, permissions, credentials and safeguards: it waits for a person, however often it is said."""
    found = located(claim, turns)
    if found and all(one.origin is Origin.USER for one in found):
        return result("sensitive")
    told = (claim.statement, claim.value or "", *(one.quote.text for one in found))
    return result("sensitive", Outcome.QUARANTINE, SENSITIVE) if any(sensitive(plainly(text)) for text in told if text) else result("sensitive")
