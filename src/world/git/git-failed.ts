import { HIDDEN } from '../../lib/secret.ts'

/** git said no. Its message is the one line that tells why. */
export class GitFailed extends Error {
  override readonly name = 'GitFailed'
  readonly stderr: string

  constructor(command: string, { code, stderr }: { readonly code: number | null; readonly stderr: string }) {
    super(tellingLine(stderr) ?? `git ${command} ended with ${code === null ? 'a signal' : `exit code ${code}`}`)
    this.stderr = stderr
  }
}

/** git tells the cause first and the consequence last; what a remote says comes before both, and hints come anywhere. */
function tellingLine(stderr: string): string | undefined {
  const lines = withoutCredentials(stderr)
    .split(/[\n\r]/)
    .map(line => line.trim())
    .filter(line => line !== '' && !line.startsWith('hint:') && !line.startsWith('warning:'))
  const telling =
    lines.find(line => /^(fatal|ssh|error): /i.test(line)) ?? lines.find(line => line.startsWith('remote:')) ?? lines[0]
  return telling?.replace(/^(fatal|error): /, '').slice(0, 300)
}

/** Addresses may hold a name and a password, or a token in the place of the name. */
function withoutCredentials(text: string): string {
  return text
    .replaceAll(/(https?:\/\/)[^\s/@'"]+@/gi, `$1${HIDDEN}@`)
    .replaceAll(/(\w+:\/\/)[^\s/@'":]+:[^\s/@'"]+@/g, `$1${HIDDEN}@`)
}
