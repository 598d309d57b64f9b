import { expect, test } from 'vitest'
import { COMMANDS, parseLine } from '../../../testkit/cli/commands.ts'
import { OPTIONS } from './options.ts'
import { checkPositionals } from './check-positionals.ts'

function refusalOf(argv: string[]): unknown {
  try {
    checkPositionals(parseLine(argv))
    return undefined
  } catch (cause) {
    return cause
  }
}

test('options may stand before the command, before and after its arguments', () => {
  const args = parseLine(['--color', 'never', '--json', 'status', 'fix-auth', '-q'])
  expect([args.command.name, args.positionals]).toEqual(['status', ['fix-auth']])
  expect(args.value(OPTIONS.color)).toBe('never')
  expect([args.has(OPTIONS.json), args.has(OPTIONS.quiet), args.has(OPTIONS.help)]).toEqual([true, true, false])
})

test.each([[['-n', '5']], [['-n5']], [['--lines', '5']], [['--lines=5']], [['-fn5']], [['-n', '9', '-n', '5']]])(
  'the parser accepts a value as %j',
  argv => {
    expect(parseLine(['log', ...argv]).value(OPTIONS.lines)).toBe(5)
  },
)

test('a repeated option keeps all its values, empty ones too', () => {
  const args = parseLine(['run', '--env', 'A=1', '--env=B=x=y', '--env', 'C=', 'do it'])
  expect(args.values(OPTIONS.env)).toEqual([
    ['A', '1'],
    ['B', 'x=y'],
    ['C', ''],
  ])
  expect(args.positionals).toEqual(['do it'])
})

test('the parser hands the arguments after -- on unchanged, and separates them from the prompt', () => {
  expect(parseLine(['run', '--', 'pytest', '-v', '--', 'x']).rest).toEqual(['pytest', '-v', '--', 'x'])
  const both = parseLine(['run', 'fix it', '--name', 'a', '--', '--model', 'opus'])
  expect([both.positionals, both.argvIndexes, both.rest]).toEqual([['fix it'], [1], ['--model', 'opus']])
  expect(parseLine(['run', 'x']).rest).toBeNull()
})

test('for other commands -- merely ends the options', () => {
  expect(parseLine(['status', '--', '-odd']).positionals).toEqual(['-odd'])
})

test('a prompt may begin with a dash, a lone dash is a word, and a known option may hold spaces', () => {
  const prompt = '- fix the tests\n- then the docs'
  expect(parseLine(['run', prompt]).positionals).toEqual([prompt])
  expect(parseLine(['run', '--json stays = valid']).positionals).toEqual(['--json stays = valid'])
  expect(parseLine(['run', '-']).positionals).toEqual(['-'])
  expect(parseLine(['run', '--prompt-file', '-']).value(OPTIONS.promptFile)).toBe('-')
  expect(parseLine(['run', '--cwd=/a b', 'x']).value(OPTIONS.cwd)).toBe('/a b')
})

test('a line without a command means help', () => {
  expect(parseLine([]).command.name).toBe('help')
  expect(parseLine(['-q']).command.name).toBe('help')
})

test.each(['ls', 'ps', 'logs'])('%s is an alias', alias => {
  expect(parseLine([alias]).command.aliases).toContain(alias)
})

test.each<[string[], string, string | undefined]>([
  [['stauts'], 'there is no command "stauts"', 'did you mean: oneshot status?'],
  [['cancel'], 'there is no command "cancel"', 'did you mean: oneshot stop?'],
  [['undo'], 'there is no command "undo"', 'did you mean: oneshot restore?'],
  [['board'], 'there is no command "board"', 'did you mean: oneshot ralph status?'],
  [['fix the bug'], 'there is no command "fix the bug"', expect.stringContaining('oneshot run')],
  [['list', '--jsno'], 'there is no option "--jsno" for list', 'did you mean --json? see oneshot list --help'],
  [['list', '-z'], 'there is no option "-z" for list', 'see oneshot list --help'],
  [['--lines', '5', 'log'], 'there is no option "--lines" before a command', expect.any(String)],
  [['log', '-n'], '--lines needs a value: a whole number or all', 'write --lines N'],
  [['log', '--lines', '--raw'], '--lines needs a value: a whole number or all', 'write --lines N'],
  [['run', '--max-output', '-5', 'x'], expect.stringContaining('an amount of output'), 'write --max-output SIZE'],
  [['run', '--name', '-dash', 'x'], expect.stringContaining('without a hyphen at either end'), 'write --name NAME'],
  [['run', '--model', '-odd', 'x'], expect.stringContaining('--model needs a value'), 'write --model=-odd'],
  [['log', '-n', 'five'], '--lines cannot be "five": it must be a whole number or all', undefined],
  [['list', '--json=yes'], '--json takes no value', 'write --json'],
  [
    ['list', '--color', 'allways'],
    expect.stringContaining('one of auto, always, never'),
    'did you mean --color always?',
  ],
  [['wait', '--timeout', 'soon'], expect.stringContaining('a duration such as 90s'), undefined],
  [['run', '--env', 'PATH', 'x'], expect.stringContaining('it must be KEY=VALUE'), undefined],
  [
    ['run', 'fix', 'the', 'bug'],
    'run does not take the argument "the"',
    expect.stringMatching(/"fix the bug".*-- pytest/),
  ],
  [['list', 'x'], 'list does not take the argument "x"', 'see oneshot list --help'],
  [['completion'], 'completion needs SHELL: one of bash, zsh, fish', expect.any(String)],
  [['daemon', 'stat'], expect.stringContaining('one of start, stop, status'), 'did you mean: oneshot daemon status?'],
])('the parser refuses %j', (argv, message, hint) => {
  expect(refusalOf(argv)).toMatchObject({ code: 'usage', message, hint })
})

test.each<[string[], number | undefined, string[]]>([
  [['ralph', '--parallel'], 3, []],
  [['ralph', '--parallel', 'PRD.md'], 3, ['PRD.md']],
  [['ralph', '--parallel', '4', 'PRD.md'], 4, ['PRD.md']],
  [['ralph', 'PRD.md', '--parallel=5'], 5, ['PRD.md']],
  [['ralph', '--parallel', '--land', 'PRD.md'], 3, ['PRD.md']],
  [['ralph', '--parallel', '2024-plan.md'], 3, ['2024-plan.md']],
  [['ralph', 'PRD.md'], undefined, ['PRD.md']],
])('%j: the option may omit its value', (argv, width, words) => {
  const args = parseLine(argv)
  expect([args.value(OPTIONS.parallel), args.positionals]).toEqual([width, words])
})

test.each(['0', '65', '-1'])('but %s is a number, and a wrong one', number => {
  const message = expect.stringContaining('it must be a whole number from 1 to 64')
  expect(refusalOf(['ralph', '--parallel', number])).toMatchObject({ code: 'usage', message })
})

test('the parser reads limits and durations as times', () => {
  expect(parseLine(['run', '--max-time', '1h30m', 'x']).value(OPTIONS.maxTime)).toBe(5_400_000)
  expect(parseLine(['run', '--max-time', 'none', 'x']).value(OPTIONS.maxTime)).toBeNull()
  expect(parseLine(['run', '--max-time=0', 'x']).value(OPTIONS.maxTime)).toBeNull()
  expect(parseLine(['log', '--since', '2026-11-15T10:00:00Z']).value(OPTIONS.since)).toEqual({
    at: Date.UTC(2026, 10, 15, 10),
  })
  expect(parseLine(['log', '--since', '10m']).value(OPTIONS.since)).toEqual({ ago: 600_000 })
})

test.each(COMMANDS.map(command => [command.name, command] as const))(
  'the examples of %s are valid',
  (name, command) => {
    expect(command.examples.length).toBeGreaterThan(0)
    for (const { argv } of command.examples) {
      const args = parseLine(argv)
      checkPositionals(args)
      expect(args.command.name).toBe(name)
    }
  },
)
