import { expect, test } from 'vitest'
import { exitCodeOf, PROBLEMS } from '../../api/contract/problems.ts'
import { reference } from '../reference.ts'
import { paintWith } from '../screen/paint.ts'
import { COMMANDS, commandNamed } from '../table/commands.ts'
import { GLOBAL_OPTIONS } from '../table/options.ts'
import { EXIT_CODES } from './facts.ts'
import { helpOn } from './help-on.ts'
import { TOPICS } from './topics.ts'

const plain = paintWith(false)
const shown = COMMANDS.filter(command => command.group !== null)

test('help on a command gives examples first, then usage, arguments and options', () => {
  expect(helpOn(commandNamed('wait') ?? null, plain)).toMatchInlineSnapshot(`
    "oneshot wait: wait until sessions have ended, and pass their outcome on

    Examples:
      # go on only when it is done
      oneshot wait fix-auth && git push
      # wait for two, but not for ever
      oneshot wait fix-auth docs --timeout 2h

    Usage:
      oneshot wait [options] [NAME...]

    Arguments:
      NAME  name, task, id or a unique beginning; this directory’s most recent session unless given

    Options:
          --timeout DURATION  stop waiting after this time, with exit code 124
          --json              print JSON, errors included

    Options everywhere:
      -h, --help                     show this help
          --version                  print the version
          --color auto|always|never  when to use colours
          --no-input                 never ask a question
      -q, --quiet                    print only names, or nothing where there are none
      -c, --config KEY=VALUE         set a config key for this call (may be repeated)

    Exits with 0 when the work is done, otherwise with the program's exit code, 128 plus
    the signal's number, or 1. With several names the first that is not 0 counts.
    Ctrl-C ends the waiting, never the work."
  `)
})

test('the overview names every command and topic', () => {
  const text = helpOn(null, plain)
  for (const { name, summary } of shown)
    expect(text).toMatch(new RegExp(`^  ${name}[, ].*${summary.slice(0, 20)}`, 'm'))
  for (const { name } of TOPICS) expect(text).toContain(`help ${name}`)
  expect(text).not.toContain('__complete')
})

test.each(shown.map(command => [command.name, command] as const))(
  'help on %s fits a terminal of 100 columns',
  (_, command) => {
    expect(command.summary).toMatch(/^[a-z].*[^.]$/)
    for (const line of helpOn(command, plain).split('\n')) expect(line.length, line).toBeLessThanOrEqual(100)
  },
)

test.each(COMMANDS.map(command => [command.name, command] as const))('%s has no option twice', (_, { options }) => {
  const all = [...options, ...GLOBAL_OPTIONS]
  const names = all.flatMap(({ name, short }) => (short === undefined ? [name] : [name, short]))
  expect(names).toEqual([...new Set(names)])
})

test('every exit code a refusal may have is explained', () => {
  const explained = EXIT_CODES.map(({ name }) => Number(name))
  expect(explained).toEqual(expect.arrayContaining(Object.keys(PROBLEMS).map(exitCodeOf)))
})

test('the reference holds every command, option, variable and key', () => {
  const text = reference()
  for (const { name, options } of shown) {
    expect(text).toContain(`### \`${name}\``)
    for (const option of options) expect(text).toContain(`--${option.name}`)
  }
  for (const word of ['ONESHOT_HOME', 'ONESHOT_TMUX_SESSION', 'checkpoint-interval']) {
    expect(text).toContain(word)
  }
})
