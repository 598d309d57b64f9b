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

test('an unknown option takes as many words as the program would give it', () => {
  const problem = (others: ArgumentRules['others']): string | undefined =>
    checkArguments(['--unknown', 'a', 'b', 'c'], { ...rules, others })?.problem
  expect([problem('none'), problem('one'), problem('several')]).toEqual(['a word: a', 'a word: b', undefined])
})

test('a value may follow its short option without a space', () => {
  const joined = { ...rules, nameOf: optionName }
  expect(checkArguments(['-mopus', '-rlast'], joined)?.problem).toBe('no -r')
  expect(checkArguments(['-mopus', 'word'], joined)?.problem).toBe('a word: word')
})

test('the beginning of an argument may show that it belongs to no option', () => {
  const files = { ...rules, others: 'several' as const, noWord: /^[-@]/ }
  expect(checkArguments(['--unknown', 'a', '@b'], files)?.problem).toBe('a word: @b')
})

test('checkArguments returns the remedy with the problem', () => {
  expect(checkArguments(['-v'], rules)).toEqual({ problem: 'no -v', remedy: 'ask it yourself' })
})
