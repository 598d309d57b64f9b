import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { splitCompleteLines } from './split-lines.ts'

test('splitCompleteLines takes only whole lines; the rest waits', () => {
  expect(splitCompleteLines(Buffer.from('one\ntwo\r\n\nthr'))).toEqual({ lines: ['one', 'two\r', ''], length: 10 })
  expect(splitCompleteLines(Buffer.from('no end'))).toEqual({ lines: [], length: 0 })
  expect(splitCompleteLines(Buffer.from(''))).toEqual({ lines: [], length: 0 })
})

test('any split of the bytes gives the same lines', () => {
  const text = fc.string({ unit: fc.constantFrom('a', '\n', 'ü', '修', '\r') })
  fc.assert(
    fc.property(text, fc.array(fc.nat(5)), (said, cuts) => {
      const bytes = Buffer.from(`${said}\n`)
      const lines: string[] = []
      let taken = 0
      let seen = 0
      for (const cut of [...cuts, bytes.length]) {
        seen = Math.min(bytes.length, seen + cut)
        const whole = splitCompleteLines(bytes.subarray(taken, seen))
        lines.push(...whole.lines)
        taken += whole.length
      }
      expect(lines).toEqual(said.split('\n'))
    }),
  )
})
