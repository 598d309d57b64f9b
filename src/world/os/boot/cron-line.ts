import { quote } from '../../../lib/quote.ts'
import { Refusal } from '../../../lib/refusal.ts'
import { type BootOrder, bootArgv, NO_RESUME, orderIn } from './boot-order.ts'

/** cron 3.0 (Debian 12): a longer command is refused. */
const LONGEST_COMMAND = 990

/** One line of a crontab, marked by the name at its end. */
export function renderCronLine(name: string, order: BootOrder): string {
  const variables = [`ONESHOT_HOME=${quote(order.home)}`, `PATH=${quote(order.path)}`]
  if (order.noResume) variables.push(`${NO_RESUME}=1`)
  const command = [...variables, 'exec', ...bootArgv(order).map(quote), '</dev/null >/dev/null 2>&1', mark(name)]
  const text = command.join(' ')
  assertHoldable(order)
  // cron makes a line break of %, even within quotes, unless a backslash stands before it.
  return `@reboot ${text.replaceAll('%', '\\%')}`
}

export function fits(line: string): boolean {
  return Buffer.byteLength(line) <= LONGEST_COMMAND
}

/** The crontab with this line as its last, in place of an earlier one of that name. All other bytes stay as they are. */
export function withLine(crontab: string, name: string, line: string): string {
  const others = withoutLine(crontab, name)
  const isOpen = others !== '' && !others.endsWith('\n')
  return `${others}${isOpen ? '\n' : ''}${line}\n`
}

export function withoutLine(crontab: string, name: string): string {
  return crontab
    .split(/(?<=\n)/)
    .filter(line => !isOurs(line, name))
    .join('')
}

export function findLine(crontab: string, name: string): string | undefined {
  return crontab.split('\n').find(line => isOurs(line, name))
}

/** What a line of ours starts; undefined when it is none. */
export function readCronLine(line: string): BootOrder | undefined {
  const plain = line.replaceAll('\\%', '%')
  const [, path, ...argv] = wordsIn(plain)
  return orderIn(argv, path ?? '', plain.includes(`' ${NO_RESUME}=1 exec '`))
}

function isOurs(line: string, name: string): boolean {
  return line.startsWith('@reboot ') && line.trimEnd().endsWith(` ${mark(name)}`)
}

function mark(name: string): string {
  return `# oneshot boot ${name}`
}

function wordsIn(text: string): string[] {
  return [...text.matchAll(/'((?:[^']|'\\'')*)'/g)].map(([, word = '']) => word.replaceAll("'\\''", "'"))
}

/** Whether a backslash before % is cron's or ours cannot be told apart by every cron. */
function assertHoldable({ home, keeper, node, program, path }: BootOrder): void {
  const odd = [home, keeper, node, program, path].find(text => text.includes('\\'))
  if (odd === undefined) return
  throw new Refusal('boot-impossible', `a crontab cannot hold the backslash in ${odd}`, 'move it to another folder')
}
