import { expect, test } from 'vitest'
import {
  checkArguments,
  optionName,
  nameBeforeEquals,
  optionSet,
  remedyMap,
  type ArgumentRules,
} from './check-arguments.ts'

const REMEDIES = remedyMap(['-r --resume', 'leave it out'], ['-v', 'ask it yourself'])

const rules: ArgumentRules = {
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
  expect(checkArguments(args, rules)?.problem ?? null).toBe(problem)
})

test('an option that is not known takes what the program would let it take', () => {
  const problem = (others: ArgumentRules['others']): string | undefined =>
    checkArguments(['--unknown', 'a', 'b', 'c'], { ...rules, others })?.problem
  expect([problem('none'), problem('one'), problem('several')]).toEqual(['a word: a', 'a word: b', undefined])
})

test('short options may have their word joined to them', () => {
  const joined = { ...rules, nameOf: optionName }
  expect(checkArguments(['-mopus', '-rlast'], joined)?.problem).toBe('no -r')
  expect(checkArguments(['-mopus', 'word'], joined)?.problem).toBe('a word: word')
})

test('how an argument begins may tell that it is for no option', () => {
  const files = { ...rules, others: 'several' as const, noWord: /^[-@]/ }
  expect(checkArguments(['--unknown', 'a', '@b'], files)?.problem).toBe('a word: @b')
})

test('the remedy is told with the problem', () => {
  expect(checkArguments(['-v'], rules)).toEqual({ problem: 'no -v', remedy: 'ask it yourself' })
})
