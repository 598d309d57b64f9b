import { expect, test } from 'vitest'
import { decodeLossless } from '../../lib/text/lossless-utf8.ts'
import type { CliHost } from '../host.ts'
import { argumentBytes, rawArgument, rawEnvironment } from './argument-and-env-bytes.ts'

test('argumentBytes finds bytes that are not UTF-8 in the kernel’s copy of the command line', () => {
  const typed = Buffer.from([0x66, 0xff, 0xfe, 0x67])
  const commandLine = Buffer.concat([Buffer.from('node\0--flag\0main.js\0run\0'), typed, Buffer.from('\0')])
  const argv = ['run', typed.toString()]
  expect(rawArgument(argv, 1, commandLine)).toEqual(typed)
})

test('an empty argument keeps its position', () => {
  expect(rawArgument(['run', '', 'x'], 2, Buffer.from('node\0main.js\0run\0\0x\0'))).toEqual(Buffer.from('x'))
})

test('rawArgument returns nothing for a command line that does not match argv', () => {
  expect(rawArgument(['run', 'a\ufffd'], 1, Buffer.from('node\0other\0'))).toBeUndefined()
})

test('a replacement character that the user typed stays', () => {
  const host = { commandLine: () => Buffer.from('node\0main.js\0run\0a\ufffdb\0') } as CliHost
  expect(argumentBytes({ argv: ['run', 'a\ufffdb'], host }, 1)).toEqual(Buffer.from('a\ufffdb'))
})

test('a variable that is not UTF-8 keeps its bytes, and a changed variable keeps its new value', () => {
  const raw = Buffer.from([0x61, 0xff, 0x0a, 0x3d])
  const kernel = (): Buffer => Buffer.concat([Buffer.from('PLAIN=x\0RAW='), raw, Buffer.from('\0CHANGED=\xff\0')])
  const env = { PLAIN: 'x', RAW: raw.toString(), CHANGED: 'new \ufffd' }
  expect(rawEnvironment(env, kernel)).toEqual({ ...env, RAW: decodeLossless(raw) })
})
