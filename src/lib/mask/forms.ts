import { assignedIn, NAME_ANCHORS } from './assigned.ts'
import { COMMANDS } from './commands.ts'
import { form, type Form, START } from './form.ts'

/**
 * Something random: names in code and prose have no digits. No pattern looks ahead without a limit, and none is tried twice on
 * the same run of characters: whoever writes the text must not be able to hold us up.
 */
const RANDOM = String.raw`(?=[\w-]{0,200}\d)[\w-]`

/** Keys and tokens that say themselves whose they are; the part that says so, the first group, stays. */
export const SELF_EVIDENT: readonly Form[] = [
  // Anthropic, OpenAI, OpenRouter, and those who took it up from them.
  form(['sk-'], `${START}(sk-(?:ant-|or-|proj-|svcacct-|admin-)?)${RANDOM}{20,}`),
  form(['gsk_', 'xai-', 'pplx-'], `${START}(gsk_|xai-|pplx-)${RANDOM}{30,}`),
  form(['AIza'], `${START}(AIza)[\\w-]{35}(?![\\w-])`),
  form(['ya29.', 'GOCSPX-'], `${START}(ya29\\.|GOCSPX-)[\\w.-]{20,}`),
  form(
    ['ecret_access_key', 'ECRET_ACCESS_KEY', 'ecretAccessKey'],
    String.raw`(secret_?access_?key["']?[ \t]{0,4}[:=][ \t]{0,4}["']?)[\w+/]{40}(?![\w+/=])`,
    'gi',
  ),
  form(['AKIA', 'ASIA', 'ABIA', 'ACCA'], `${START}(A[KSBC][IC]A)[A-Z0-9]{16}(?![A-Za-z0-9])`),
  form(['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_'], '(gh[pousr]_)\\w{36,}'),
  form(['github_pat_'], '(github_pat_)\\w{22,}'),
  form(['glpat-', 'glptt-', 'gldt-', 'glrt-', 'glcbt-', 'glft-', 'gloas-'], `(gl[a-z]{2,4}-)${RANDOM}{20,}`),
  form(['xox', 'xapp-'], `(xox[a-z][-.]|xapp-)(?=[\\w.-]{0,200}\\d)[\\w.-]{10,}`),
  form(['hooks.slack.com/'], '(hooks\\.slack\\.com/[a-z]+/)[\\w/-]{20,}'),
  form(['/api/webhooks/'], '(/api/webhooks/\\d+/)[\\w-]{20,}'),
  form(discordBeginnings(), `${START}([MNO][TDjz])[\\w-]{21,26}\\.[\\w-]{6}\\.[\\w-]{27,}`),
  form([':AA'], '(\\d{8,10}:)AA[\\w-]{33}(?![\\w-])'), // Telegram.
  form(['npm_'], `${START}(npm_)[A-Za-z0-9]{36}(?![A-Za-z0-9])`),
  form(['pypi-'], '(pypi-)[\\w-]{50,}'),
  form(['_live_', '_test_'], `${START}([srp]k_(?:live|test)_)(?=\\w{0,200}\\d)\\w{16,}`), // Stripe.
  form(['whsec_'], '(whsec_)[\\w+/=]{24,}'),
  form(['hf_'], `${START}(hf_)[A-Za-z0-9]{30,}`),
  form(['SG.'], `${START}(SG\\.)[\\w-]{16,}\\.[\\w-]{16,}`), // SendGrid.
  form(['dop_v1_', 'shpat_', 'shpss_', 'lin_api_', 'hvs.'], '(dop_v1_|shp[a-z]+_|lin_api_|hvs\\.)\\w{24,}'),
  form(['AGE-SECRET-KEY-'], '(AGE-SECRET-KEY-)[A-Z0-9]{20,}'),
  form(['eyJ'], '(?<![\\w-])([\\w-]{0,40}?eyJ)[\\w-]{10,}(?:\\.[\\w-]+){2,4}'), // A JSON web token.
]

/** `user:password@` of an address, in which there may be another @, or a token in the place of its user. */
const ADDRESSES: readonly Form[] = [
  form(['://'], String.raw`(://[^ \t\r\n/:@"'<>]{0,200}:)(?![$<{*])[^ \t\r\n/"'<>]{1,300}(?=@)`),
  form(['://'], '(://)(?=[\\w-]{0,200}\\d)[\\w-]{20,}(?=@)'),
]

const HEADERS: readonly Form[] = [
  form(
    ['earer', 'EARER'],
    `${START}((?:[Bb]earer|BEARER)[ \\t]+)(?:(?=[\\w.~+/=-]{0,200}\\d)[\\w.~+/=-]{16,}|[\\w.~+/=-]{24,})`,
  ),
  form(['ookie', 'OOKIE'], String.raw`${START}((?:set-)?cookie["']?:[ \t]*["']?)(?=[\w.-]{1,100}=)[^\r\n"']{4,}`, 'gi'),
  form(
    ['uthorization', 'UTHORIZATION'],
    String.raw`(authorization["']?[ \t]*[:=][ \t]*["']?(?:basic|bearer|digest|token|apikey)[ \t]+)[\w.~+/=,:-]{8,}`,
    'gi',
  ),
]

export const FORMS: readonly Form[] = [
  ...SELF_EVIDENT,
  ...ADDRESSES,
  ...HEADERS,
  ...COMMANDS,
  { anchors: NAME_ANCHORS, find: assignedIn },
]

/** A bot's token begins with its number in base64. */
function discordBeginnings(): string[] {
  const numbers = Array.from({ length: 90 }, (_, i) => String(i + 10))
  return [...new Set(numbers.map(number => Buffer.from(number).toString('base64').slice(0, 3)))]
}
