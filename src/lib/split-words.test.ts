import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { commandLine } from './quote.ts'
import { splitWords } from './split-words.ts'

test.each([
  ['', []],
  ['  ', []],
  ['deploy --now', ['deploy', '--now']],
  [' a\t b\nc ', ['a', 'b', 'c']],
  [`say 'two words' "and three more"`, ['say', 'two words', 'and three more']],
  [`it'"'s one`, ['it"s', 'one']],
  [`it"'"s one`, ["it's", 'one']],
  [`a'' '' ""`, ['a', '', '']],
  [`"a \\"b\\" \\n \\\\"`, ['a "b" \\n \\']],
  [`a\\ b \\'`, ['a b', "'"]],
  ['echo $(reboot) $HOME `id` *', ['echo', '$(reboot)', '$HOME', '`id`', '*']],
  ["no 'end", undefined],
  ['no "end\\"', undefined],
  ['no end\\', undefined],
])('%j is %j', (command, words) => {
  expect(splitWords(command)).toEqual(words)
})

test('whatever was quoted for a shell is told apart again', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'binary' })), words => {
      expect(splitWords(commandLine(words))).toEqual(words)
    }),
  )
})
