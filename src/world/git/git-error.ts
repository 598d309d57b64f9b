import { HIDDEN } from '../../lib/secret.ts'

/** git failed. The message is the one line that gives the cause. */
export class GitError extends Error {
  override readonly name = 'GitFailed'
  readonly stderr: string

  constructor(command: string, { code, stderr }: { readonly code: number | null; readonly stderr: string }) {
    const output = truncateMiddle(stderr)
    super(causeLine(output) ?? `git ${command} ended with ${code === null ? 'a signal' : `exit code ${code}`}`)
    this.stderr = output
  }
}

/** Characters at either end. A remote can send any amount of text in one line. */
const MAX_PART_LENGTH = 16_384

function truncateMiddle(text: string): string {
  if (text.length <= 2 * MAX_PART_LENGTH) return text
  return `${text.slice(0, MAX_PART_LENGTH)}\n${text.slice(-MAX_PART_LENGTH)}`
}

/** git prints the cause first and the consequence last; a remote's output precedes both, and hints occur anywhere. */
function causeLine(stderr: string): string | undefined {
  const lines = maskCredentials(stderr)
    .split(/[\n\r]/)
    .map(line => line.trim())
    .filter(line => line !== '' && !line.startsWith('hint:') && !line.startsWith('warning:'))
  const cause =
    lines.find(line => /^(fatal|ssh|error): /i.test(line)) ?? lines.find(line => line.startsWith('remote:')) ?? lines[0]
  return cause?.replace(/^(fatal|error): /, '').slice(0, 300)
}

/**
 * Addresses may contain a name and a password, or a token instead of the name. The expressions start at the slashes, so
 * that their time does not grow with the square of the text.
 */
function maskCredentials(text: string): string {
  return text
    .replaceAll(/(?<=https?):\/\/[^\s/'"]+@/gi, `://${HIDDEN}@`)
    .replaceAll(/:\/\/[^\s/'":]+:[^\s/'"]+@/g, `://${HIDDEN}@`)
}
