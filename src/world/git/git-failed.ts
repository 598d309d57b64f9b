import { HIDDEN } from '../../lib/secret.ts'

/** git said no. Its message is the one line that tells why. */
export class GitFailed extends Error {
  override readonly name = 'GitFailed'
  readonly stderr: string

  constructor(command: string, { code, stderr }: { readonly code: number | null; readonly stderr: string }) {
    const said = beginningAndEnd(stderr)
    super(tellingLine(said) ?? `git ${command} ended with ${code === null ? 'a signal' : `exit code ${code}`}`)
    this.stderr = said
  }
}

/** Characters at either end. A remote can send any amount of text, in one line. */
const LONGEST_PART = 16_384

function beginningAndEnd(text: string): string {
  if (text.length <= 2 * LONGEST_PART) return text
  return `${text.slice(0, LONGEST_PART)}\n${text.slice(-LONGEST_PART)}`
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

/**
 * Addresses may hold a name and a password, or a token in the place of the name. The expressions begin at the slashes, so that
 * their time does not grow with the square of the text.
 */
function withoutCredentials(text: string): string {
  return text
    .replaceAll(/(?<=https?):\/\/[^\s/'"]+@/gi, `://${HIDDEN}@`)
    .replaceAll(/:\/\/[^\s/'":]+:[^\s/'"]+@/g, `://${HIDDEN}@`)
}
