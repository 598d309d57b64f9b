import { expect, test } from 'vitest'
import { exitCodeOf, PROBLEMS } from '../../api/contract/problems.ts'
import { reference } from './reference.ts'
import { makePaint } from '../terminal/colors.ts'
import { commandNamed, COMMANDS } from '../../../testkit/cli/commands.ts'
import { COMMAND_INDEX } from '../command-index.ts'
import { GLOBAL_OPTIONS } from '../args/options.ts'
import { EXIT_CODES, OVERVIEW_EXAMPLES } from './texts.ts'
import { wrapHelp } from './layout.ts'
import { renderHelp, renderOverview } from './command-help.ts'
import { TOPICS } from './topics.ts'

const plain = makePaint(false)
const shown = COMMANDS.filter(command => command.group !== null)

test('help on a command shows examples first, then usage, arguments and options', () => {
  expect(renderHelp(commandNamed('wait'), plain)).toMatchInlineSnapshot(`
    "oneshot wait: wait until sessions have ended, and exit with their outcome

    Examples:
      # push only when it is done
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
      -q, --quiet                    print only names, or nothing
      -c, --config KEY=VALUE         set a config key for this call (may be repeated)

    Exits with 0 when the work is done, otherwise with the program's exit code, 128 plus
    the signal's number, or 1. With several names the first that is not 0 counts.
    Ctrl-C ends this command, never the work."
  `)
})

test('the overview names every command and topic', () => {
  const text = renderOverview(COMMAND_INDEX, plain)
  for (const { name, summary } of shown)
    expect(text).toMatch(new RegExp(`^  ${name}[, ].*${summary.slice(0, 20)}`, 'm'))
  for (const { name } of TOPICS) expect(text).toContain(`help ${name}`)
  expect(commandNamed('run').examples).toEqual(expect.arrayContaining([...OVERVIEW_EXAMPLES]))
  expect(text).not.toContain('__complete')
})

test.each(shown.map(command => [command.name, command] as const))(
  'help on %s fits a terminal of 100 columns',
  (_, command) => {
    expect(command.summary).toMatch(/^[a-z].*[^.]$/)
    for (const line of renderHelp(command, plain).split('\n')) expect(line.length, line).toBeLessThanOrEqual(100)
  },
)

test.each([40, 80])('help fits a terminal of %i columns and loses no word', width => {
  for (const paint of [plain, makePaint(true)]) {
    const texts = [renderOverview(COMMAND_INDEX, paint), ...shown.map(command => renderHelp(command, paint))]
    for (const text of [...texts, ...TOPICS.map(topic => topic.render(paint))]) {
      const fitted = wrapHelp(text, width)
      expect(fitted.split(/\s+/)).toEqual(text.split(/\s+/))
      // biome-ignore lint/suspicious/noControlCharactersInRegex: our own colours
      const lines = fitted.replace(/\u001b\[[\d;]*m/g, '').split('\n')
      for (const line of lines.filter(known => /\S.* /.test(known.trim()))) {
        const isBreakable = line.trim().split(' ').length > 2 && !/^ +\S{20,}$/.test(line)
        if (isBreakable && width === 80) expect(line.length, line).toBeLessThanOrEqual(width)
      }
    }
  }
})

test('a wrapped option stays in its column', () => {
  expect(wrapHelp('  -q, --quiet  print only names, or nothing', 30)).toBe(
    '  -q, --quiet  print only\n               names, or\n               nothing',
  )
})

test.each(COMMANDS.map(command => [command.name, command] as const))('%s has no option twice', (_, { options }) => {
  const all = [...options, ...GLOBAL_OPTIONS]
  const names = all.flatMap(({ name, short }) => (short === undefined ? [name] : [name, short]))
  expect(names).toEqual([...new Set(names)])
})

test('help explains every exit code of a refusal', () => {
  const explained = EXIT_CODES.map(({ name }) => Number(name))
  expect(explained).toEqual(expect.arrayContaining(Object.keys(PROBLEMS).map(exitCodeOf)))
})

test('the reference contains every command, option, variable and key', () => {
  const text = reference(COMMANDS)
  for (const { name, options } of shown) {
    expect(text).toContain(`### \`${name}\``)
    for (const option of options) expect(text).toContain(`--${option.name}`)
  }
  for (const word of ['ONESHOT_HOME', 'ONESHOT_TMUX_SESSION', 'checkpoint-interval']) {
    expect(text).toContain(word)
  }
})
