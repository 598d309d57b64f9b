/** The name of a way to transfer contents that git-lfs is given in the place of all others. */
export const NO_TRANSFER_AGENT = 'oneshot-none'

/**
 * Settings of a repository that have git run a program, leave the repository or trust somebody, and what is put in the place of
 * a value that its user has not set in the configuration of their own. A repository may come from a stranger, and an agent that
 * may only write files can write its configuration.
 */
const REPLACEMENTS: readonly (readonly [key: RegExp, instead: string])[] = [
  [/^filter\..*\.(clean|smudge|process)$/, ''],
  [/^filter\..*\.required$/, 'false'],
  [/^core\.sshcommand$/, 'ssh -o BatchMode=yes'],
  [/^core\.(askpass|gitproxy|notesref)$/, ''],
  [/^core\.attributesfile$/, '/dev/null'],
  [/^core\.hookspath$/, '/dev/null'],
  [/^core\.fsmonitor$/, 'false'],
  [/^core\.(pager|editor|alternaterefscommand)$/, 'true'],
  [/^sequence\.editor$/, 'true'],
  [/^diff\.external$/, 'true'],
  [/^diff\..*\.command$/, 'true'],
  [/^diff\..*\.textconv$/, 'cat'],
  [/^interactive\.difffilter$/, ''],
  // As git merges by itself.
  [/^merge\..*\.driver$/, 'git merge-file --marker-size=%L %A %O %B'],
  [/^branch\..*\.mergeoptions$/, ''],
  [/^gpg\.(.*\.)?program$/, 'false'],
  [/^gpg\.ssh\.defaultkeycommand$/, 'false'],
  [/^trailer\..*\.(command|cmd)$/, 'true'],
  [/^uploadpack\.packobjectshook$/, ''],
  [/^remote\..*\.uploadpack$/, 'git-upload-pack'],
  [/^remote\..*\.receivepack$/, 'git-receive-pack'],
  [/^remote\..*\.(proxy|proxyauthmethod)$/, ''],
  [
    /^http\.(.*\.)?(proxy|cookiefile|sslcainfo|sslcapath|sslcert|sslkey|curloptresolve|proxysslcainfo|proxysslkey)$/,
    '',
  ],
  [/^http\.(.*\.)?savecookies$/, 'false'],
  [/^http\.(.*\.)?sslverify$/, 'true'],
  [/^submodule\..*\.update$/, 'none'],
  [/^submodule\.recurse$/, 'false'],
  [/^lfs\.customtransfer\..*\.path$/, 'false'],
  [/^lfs\.customtransfer\..*\.args$/, ''],
  // An empty one would have git-lfs ask the server.
  [/^lfs\.(.*\.)?standalonetransferagent$/, NO_TRANSFER_AGENT],
  [/^lfs\.extension\..*\.(clean|smudge)$/, 'cat'],
  [/^lfs\.storage$/, 'lfs'],
  [/^annex\..*command$/, 'true'],
  // git would wait for ever at a pipe there.
  [/^diff\.orderfile$/, '/dev/null'],
  [/^fetch\.bundleuri$/, '/dev/null'],
]

/** What is put in the place of a setting; undefined where it is harmless. Keys are as git lists them. */
export function replacementFor(key: string): string | undefined {
  const plain = normalizeKey(key)
  return REPLACEMENTS.find(([pattern]) => pattern.test(plain))?.[1]
}

/** Several of these count at once, and an empty one puts an end to those before it. */
export function isCredentialHelper(key: string): boolean {
  return /^credential\.(.*\.)?helper$/.test(normalizeKey(key))
}

/** Addresses are put in the place of others, which nothing can take back. */
export function isUrlRewrite(key: string): boolean {
  return /^url\..*\.(insteadof|pushinsteadof)$/.test(normalizeKey(key))
}

/** git fetches objects that are missing from such a remote, by whichever protocol its address names. */
export function isPromisorSetting(key: string): boolean {
  return /^(remote\..*\.(promisor|partialclonefilter)|extensions\.partialclone)$/.test(normalizeKey(key))
}

/** Names of files that git reads, and whose values add up: no other value takes the place of one. */
export function isFileSetting(key: string): boolean {
  return /^(include(if\..*)?\.path|(fetch|receive)\.fsck\.skiplist|fsck\.skiplist)$/.test(normalizeKey(key))
}

export function isProtocolSetting(key: string): boolean {
  return /^protocol\.(.*\.)?allow$/.test(normalizeKey(key))
}

/** Whether a setting has git run a program, read or write elsewhere, or trust somebody. */
export function isDangerous(key: string): boolean {
  const isPlace = key === 'core.worktree' || key === 'core.excludesfile'
  return (
    isPlace ||
    [isCredentialHelper, isUrlRewrite, isPromisorSetting, isFileSetting, isProtocolSetting].some(is => is(key)) ||
    replacementFor(key) !== undefined
  )
}

/** git lists section and name in small letters. The part between them may hold what a dot in an expression does not stand for. */
function normalizeKey(key: string): string {
  return key.replaceAll(/[\n\r\u2028\u2029]/g, ' ')
}

/**
 * Whether a text can hold any of these settings at all. Sections and names are written out, whatever stands between them, so
 * that a configuration without these words need not be given to git.
 */
export function mayContainDangerous(config: string): boolean {
  return DANGEROUS_WORDS.test(config)
}

const DANGEROUS_WORDS = new RegExp(
  [
    'filter|include|insteadof|helper|protocol|driver|textconv|command|cmd|program|proxy|askpass|attributesfile',
    'worktree|fsmonitor|hookspath|pager|editor|external|hook|\\bupdate\\b|(?:upload|receive)pack|recurse|lfs|cookie|ssl|curlopt|mergeoptions|notesref',
    'excludesfile|annex|orderfile|bundleuri|promisor|partialclone|skiplist',
  ].join('|'),
  'i',
)
