/** The name of the transfer agent that git-lfs gets instead of all others. */
export const NO_TRANSFER_AGENT = 'oneshot-none'

/**
 * Settings of a repository that make git run a program, leave the repository or trust somebody, with a replacement for
 * values that the user's own configuration does not set. A repository may come from a stranger, and an agent that may
 * only write files can write its configuration.
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
  // The same as git's own merge.
  [/^merge\..*\.driver$/, 'git merge-file --marker-size=%L %A %O %B'],
  [/^branch\..*\.mergeoptions$/, ''],
  [/^gpg\.(.*\.)?program$/, 'false'],
  [/^gpg\.ssh\.defaultkeycommand$/, 'false'],
  [/^trailer\..*\.(command|cmd)$/, 'true'],
  [/^uploadpack\.packobjectshook$/, ''],
  [/^remote\..*\.(proxy|proxyauthmethod)$/, ''],
  [
    /^http\.(.*\.)?(proxy|cookiefile|sslcainfo|sslcapath|sslcert|sslkey|curloptresolve|proxysslcainfo|proxysslcert|proxysslkey)$/,
    '',
  ],
  [/^http\.(.*\.)?savecookies$/, 'false'],
  [/^http\.(.*\.)?sslverify$/, 'true'],
  [/^submodule\..*\.update$/, 'none'],
  [/^submodule\.recurse$/, 'false'],
  [/^lfs\.customtransfer\..*\.path$/, 'false'],
  [/^lfs\.customtransfer\..*\.args$/, ''],
  // With an empty value, git-lfs would ask the server.
  [/^lfs\.(.*\.)?standalonetransferagent$/, NO_TRANSFER_AGENT],
  [/^lfs\.extension\..*\.(clean|smudge)$/, 'cat'],
  [/^lfs\.storage$/, 'lfs'],
  [/^annex\..*command$/, 'true'],
  // git would hang at a pipe there.
  [/^diff\.orderfile$/, '/dev/null'],
  [/^fetch\.bundleuri$/, '/dev/null'],
]

/** Returns the replacement of a setting; undefined if it is harmless. Keys are in git's list format. */
export function replacementFor(key: string): string | undefined {
  const plain = normalizeKey(key)
  return REPLACEMENTS.find(([pattern]) => pattern.test(plain))?.[1]
}

/** Several of these apply at once, and an empty value removes those before it. */
export function isCredentialHelper(key: string): boolean {
  return /^credential\.(.*\.)?helper$/.test(normalizeKey(key))
}

/** A push sends all of these to the remote, and an empty value removes those before it. */
export function isPushOption(key: string): boolean {
  return key === 'push.pushoption'
}

/** These rewrite addresses, and no other setting can undo that. */
export function isUrlRewrite(key: string): boolean {
  return /^url\..*\.(insteadof|pushinsteadof)$/.test(normalizeKey(key))
}

/** Programs and helpers that a fetch and a push start. git 2.39 uses the first value, so that no later setting replaces it. */
export function isTransferProgram(key: string): boolean {
  return /^remote\..*\.(uploadpack|receivepack|vcs)$/.test(normalizeKey(key))
}

/** Decides for all remotes how git connects, and what it sends. */
export function isConnectionSetting(key: string): boolean {
  return /^(?:(?:http|url|credential|protocol|ssh)\.|core\.(?:sshcommand|gitproxy|askpass)$|fetch\.(?:bundleuri|uriprotocols)$|transfer\.)/.test(
    normalizeKey(key),
  )
}

/** git fetches missing objects from such a remote, by any protocol that its address names. */
export function isPromisorSetting(key: string): boolean {
  return /^(remote\..*\.(promisor|partialclonefilter)|extensions\.partialclone)$/.test(normalizeKey(key))
}

/** Names of files that git reads. Their values accumulate: no later value replaces one. */
export function isFileSetting(key: string): boolean {
  return /^(include(if\..*)?\.path|(fetch|receive)\.fsck\.skiplist|fsck\.skiplist)$/.test(normalizeKey(key))
}

export function isProtocolSetting(key: string): boolean {
  return /^protocol\.(.*\.)?allow$/.test(normalizeKey(key))
}

/** Names a file or folder that git uses, and that may be another one at each use. */
export function isPlace(key: string): boolean {
  return key === 'core.worktree' || key === 'core.excludesfile'
}

/** Returns true if a setting makes git run a program, read or write elsewhere, or trust somebody. */
export function isDangerous(key: string): boolean {
  return (
    isPlace(key) ||
    [
      isCredentialHelper,
      isPushOption,
      isUrlRewrite,
      isTransferProgram,
      isPromisorSetting,
      isFileSetting,
      isProtocolSetting,
    ].some(is => is(key)) ||
    replacementFor(key) !== undefined
  )
}

/**
 * git lists section and name in lower case. The part between them may contain characters that a dot in an expression
 * does not match.
 */
function normalizeKey(key: string): string {
  return key.replaceAll(/[\n\r\u2028\u2029]/g, ' ')
}

/**
 * Returns true if a text may contain any of these settings. Section names and setting names are always written in full,
 * so that a configuration without these words needs no check by git.
 */
export function mayContainDangerous(config: string): boolean {
  return DANGEROUS_WORDS.test(config)
}

const DANGEROUS_WORDS = new RegExp(
  [
    'filter|include|insteadof|helper|protocol|driver|textconv|command|cmd|program|proxy|askpass|attributesfile',
    'worktree|fsmonitor|hookspath|pager|editor|external|hook|\\bupdate\\b|(?:upload|receive)pack|vcs|recurse|lfs|cookie|ssl|curlopt|mergeoptions|notesref',
    'excludesfile|annex|orderfile|bundleuri|promisor|partialclone|skiplist|pushoption',
  ].join('|'),
  'i',
)
