import { type SecretPattern, WORD_START, secretPattern } from './secret-pattern.ts'
import { NAME_ANCHORS, findNamedSecrets } from './named-secrets.ts'

/** Excludes a placeholder for a value that is elsewhere, and an option; these are no secrets. */
const VALUE = String.raw`(?![$<{*-])[^ \t"'\r\n]`

/** Passwords in the arguments of a program, which only that program recognises as such. */
const COMMAND_PATTERNS: readonly SecretPattern[] = [
  patternAfterProgram(
    'curl',
    String.raw`((?:^|[ \t])(?:-u|-U|--user|--proxy-user)[ \t=]{1,4}["']?[^ \t:"'/]{1,100}:)${VALUE}{3,300}`,
  ),
  secretPattern(['sshpass'], String.raw`(\bsshpass[ \t]+(?:-[a-z]+[ \t]+){0,3}-p[ \t]*["']?)${VALUE}{1,300}`),
  patternAfterProgram('mysql', String.raw`([ \t]-p["']?)${VALUE}{3,300}`),
  patternAfterProgram('mariadb', String.raw`([ \t]-p["']?)${VALUE}{3,300}`),
  // The lines of a .netrc: all in one, or one each.
  secretPattern(
    ['password'],
    String.raw`(\b(?:login|machine|account)[ \t]+[^ \t]{1,200}[ \t]+password[ \t]+)[^ \t\r\n]{3,300}`,
  ),
  secretPattern(
    ['password'],
    String.raw`(^[ \t]{0,20}password[ \t]+)(?=[^ \t\r\n]{0,200}\d)[^ \t\r\n]{6,300}(?=[ \t]{0,20}\r?$)`,
  ),
]

/** Makes a pattern that matches only after the program's name. */
function patternAfterProgram(program: string, source: string): SecretPattern {
  const { find } = secretPattern([program], source)
  return {
    anchors: [program],
    find: line => {
      const at = line.indexOf(program)
      return find(line.slice(at)).map(([from, to]) => [at + from, at + to])
    },
  }
}

/**
 * Matches random text: names in code and prose have no digits. No pattern looks ahead without a limit, and none reads
 * the same run of characters twice: the author of the text must not be able to slow us down.
 */
const RANDOM = String.raw`(?=[\w-]{0,200}\d)[\w-]`

/** Keys and tokens that identify their issuer; the identifying part, the first group, stays visible. */
export const TOKEN_PATTERNS: readonly SecretPattern[] = [
  // Anthropic, OpenAI, OpenRouter, and services that copied their form.
  secretPattern(['sk-'], `${WORD_START}(sk-)(?!(?:ant|or|proj|svcacct|admin)-)${RANDOM}{20,}`),
  secretPattern(['sk-'], `${WORD_START}(sk-(?:ant|or|proj|svcacct|admin)-)[\\w-]{20,}`),
  secretPattern(['gsk_', 'xai-', 'pplx-'], `${WORD_START}(gsk_|xai-|pplx-)${RANDOM}{30,}`),
  secretPattern(['AIza'], `${WORD_START}(AIza)[\\w-]{35}(?![\\w-])`),
  secretPattern(['ya29.', 'GOCSPX-'], `${WORD_START}(ya29\\.|GOCSPX-)[\\w.-]{20,}`),
  secretPattern(
    ['ecret_access_key', 'ECRET_ACCESS_KEY', 'ecretAccessKey'],
    String.raw`(secret_?access_?key["']?[ \t]{0,4}[:=][ \t]{0,4}["']?)[\w+/]{40}(?![\w+/=])`,
    'gi',
  ),
  secretPattern(['AKIA', 'ASIA', 'ABIA', 'ACCA'], `${WORD_START}(A[KSBC][IC]A)[A-Z0-9]{16}(?![A-Za-z0-9])`),
  secretPattern(['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_'], '(gh[pousr]_)\\w{36,}'),
  secretPattern(['github_pat_'], '(github_pat_)\\w{22,}'),
  secretPattern(
    ['glpat-', 'glptt-', 'gldt-', 'glrt-', 'glcbt-', 'glft-', 'gloas-'],
    '(gl(?:pat|ptt|dt|rt|cbt|ft|oas)-)[\\w-]{20,}',
  ),
  secretPattern(['xox', 'xapp-'], `(xox[a-z][-.]|xapp-)(?=[\\w.-]{0,200}\\d)[\\w.-]{10,}`),
  secretPattern(['hooks.slack.com/'], '(hooks\\.slack\\.com/[a-z]+/)[\\w/-]{20,}'),
  secretPattern(['/api/webhooks/'], '(/api/webhooks/\\d+/)[\\w-]{20,}'),
  secretPattern(discordPrefixes(), `${WORD_START}([MNO][TDjz])[\\w-]{21,26}\\.[\\w-]{6}\\.[\\w-]{27,}`),
  secretPattern([':AA'], '(\\d{8,10}:)AA[\\w-]{33}(?![\\w-])'), // Telegram.
  secretPattern(['npm_'], `${WORD_START}(npm_)[A-Za-z0-9]{36}(?![A-Za-z0-9])`),
  secretPattern(['pypi-'], '(pypi-)[\\w-]{50,}'),
  secretPattern(['_live_', '_test_'], `${WORD_START}([srp]k_(?:live|test)_)\\w{16,}`), // Stripe.
  secretPattern(['whsec_'], '(whsec_)[\\w+/=]{24,}'),
  secretPattern(['hf_'], `${WORD_START}(hf_)[A-Za-z0-9]{30,}`),
  secretPattern(['SG.'], `${WORD_START}(SG\\.)[\\w-]{16,}\\.[\\w-]{16,}`), // SendGrid.
  secretPattern(['dop_v1_', 'shpat_', 'shpss_', 'lin_api_'], '(dop_v1_|shp[a-z]+_|lin_api_)\\w{24,}'),
  secretPattern(['hvs.', 'hvb.', 'hvr.'], `${WORD_START}(hv[sbr]\\.)[\\w-]{24,}`), // Vault.
  secretPattern(['AGE-SECRET-KEY-'], '(AGE-SECRET-KEY-)[A-Z0-9]{20,}'),
  secretPattern(['eyJ'], '(?<![\\w-])([\\w-]{0,40}?eyJ)[\\w-]{10,}(?:\\.[\\w-]+){2,4}'), // A JSON web token.
]

/** `user:password@` in an address, where the password may contain another @, or a token in place of the user. */
const URL_PATTERNS: readonly SecretPattern[] = [
  secretPattern(['://'], String.raw`(://[^ \t\r\n/:@"'<>]{0,200}:)(?![$<{*])[^ \t\r\n/"'<>]{1,300}(?=@)`),
  secretPattern(['://'], '(://)(?=[\\w-]{0,200}\\d)[\\w-]{20,}(?=@)'),
]

const HEADER_PATTERNS: readonly SecretPattern[] = [
  secretPattern(
    ['earer', 'EARER'],
    `${WORD_START}((?:[Bb]earer|BEARER)[ \\t]+)(?:(?=[\\w.~+/=-]{0,200}\\d)[\\w.~+/=-]{16,}|[\\w.~+/=-]{24,})`,
  ),
  secretPattern(
    ['ookie', 'OOKIE'],
    String.raw`${WORD_START}((?:set-)?cookie["']?:[ \t]*["']?)(?=[\w.-]{1,100}=)[^\r\n"']{4,}`,
    'gi',
  ),
  secretPattern(
    ['uthorization', 'UTHORIZATION'],
    String.raw`(authorization["']?[ \t]*[:=][ \t]*["']?(?:basic|bearer|digest|token|apikey)[ \t]+)[\w.~+/=,:-]{8,}`,
    'gi',
  ),
]

export const SECRET_PATTERNS: readonly SecretPattern[] = [
  ...TOKEN_PATTERNS,
  ...URL_PATTERNS,
  ...HEADER_PATTERNS,
  ...COMMAND_PATTERNS,
  { anchors: NAME_ANCHORS, find: findNamedSecrets },
]

/** A bot's token begins with its number in base64. */
function discordPrefixes(): string[] {
  const numbers = Array.from({ length: 90 }, (_, i) => String(i + 10))
  return [...new Set(numbers.map(number => Buffer.from(number).toString('base64').slice(0, 3)))]
}
