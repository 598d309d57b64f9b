import { expect, test } from 'vitest'
import { argumentObjection, joinedName, nameBeforeEquals, optionSet, remedies, type Rules } from './own-arguments.ts'

const REMEDIES = remedies(['-r --resume', 'leave it out'], ['-v', 'ask it yourself'])

const rules: Rules = {
  nameOf: nameBeforeEquals,
  none: optionSet('--quiet -v'),
  one: optionSet('-m --model', '--name'),
  several: optionSet('--file'),
  others: 'none',
  remedyFor: option => REMEDIES.get(option),
  problemWith: option => `no ${option}`,
  toWord: word => ({ problem: `a word: ${word}`, remedy: 'leave it out' }),
}

test.each([
  [[], null],
  [['--model', 'opus', '--quiet', '--file', 'a', 'b', '--unknown'], null],
  [['--model', '--resume'], null],
  [['--file', '--resume', 'a'], null],
  [['--resume'], 'no --resume'],
  [['--resume=x'], 'no --resume'],
  [['word', '-v', '-r'], 'no -v'],
  [['--quiet', 'word'], 'a word: word'],
  [['--model=opus', 'word'], 'a word: word'],
  [['--unknown', 'word'], 'a word: word'],
  [['--model'], null],
  [['-'], 'a word: -'],
  [['--file', 'a', '-'], 'a word: -'],
  [['--', '--resume'], 'a word: --'],
  [['-mopus'], null],
])('%j: %s', (args, problem) => {
  expect(argumentObjection(args, rules)?.problem ?? null).toBe(problem)
})

test('an option that is not known takes what the program would let it take', () => {
  const problem = (others: Rules['others']): string | undefined =>
    argumentObjection(['--unknown', 'a', 'b', 'c'], { ...rules, others })?.problem
  expect([problem('none'), problem('one'), problem('several')]).toEqual(['a word: a', 'a word: b', undefined])
})

test('short options may have their word joined to them', () => {
  const joined = { ...rules, nameOf: joinedName }
  expect(argumentObjection(['-mopus', '-rlast'], joined)?.problem).toBe('no -r')
  expect(argumentObjection(['-mopus', 'word'], joined)?.problem).toBe('a word: word')
})

test('how an argument begins may tell that it is for no option', () => {
  const files = { ...rules, others: 'several' as const, noWord: /^[-@]/ }
  expect(argumentObjection(['--unknown', 'a', '@b'], files)?.problem).toBe('a word: @b')
})

test('the remedy is told with the problem', () => {
  expect(argumentObjection(['-v'], rules)).toEqual({ problem: 'no -v', remedy: 'ask it yourself' })
})
