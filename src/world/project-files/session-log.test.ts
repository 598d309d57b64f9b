import fs from 'node:fs'
import path from 'node:path'
import zlib from 'node:zlib'
import * as fc from 'fast-check'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { testSessionId } from '../../../testkit/core/ids.ts'
import { Mask } from '../../lib/mask/mask.ts'
import { type TempHome, tempHome } from '../../../testkit/system/temp-home.ts'
import { attemptFolder, sessionFolder } from '../../state/session-folder.ts'
import { openSessionFolder } from './agent-folder.ts'
import type { OutputState } from './read-log-chunk.ts'
import { copyLogChunk, type LogProgress, newLogProgress } from './session-log.ts'

const ID = testSessionId('aaaaaaaaaa')
const MB = 1_048_576
let temp: TempHome
let project: string
let note: LogProgress | null
beforeEach(() => {
  temp = tempHome('home')
  project = path.join(path.dirname(temp.home.root), 'project')
  fs.mkdirSync(project)
  fs.mkdirSync(sessionFolder(temp.home, ID).root)
  note = null
})
afterEach(() => temp.assertNoLeaks())

const at = (file: string): string => path.join(project, '.agent', 'command-task', file)
const log = (): string => fs.readFileSync(at('session.log'), 'utf8')
const OUTPUT: OutputState = { id: ID, attempt: 1, transcript: null, isOver: false }

function say(text: string | Uint8Array, attempt = 1): void {
  const { root, stdout } = attemptFolder(temp.home, ID, attempt)
  fs.mkdirSync(root, { recursive: true })
  fs.appendFileSync(stdout, text)
}

/**
 * Copies all output, or `pieces` chunks. `isNoted: false` simulates a kill between writing the log and saving the
 * progress.
 */
async function copy(
  told: Partial<OutputState> = {},
  { pieces = Number.POSITIVE_INFINITY, isNoted = true } = {},
): Promise<void> {
  const all = { ...OUTPUT, ...told }
  for (let piece = 0; piece < pieces; piece++) {
    const folder = openSessionFolder({ project, name: 'command-task', id: ID }, () => false)
    if (folder === null) throw new Error('there is no folder')
    const save = (next: LogProgress): void => void (isNoted && (note = next))
    const work = { home: temp.home, told: all, mask: new Mask(), ending: new AbortController().signal, save }
    const next = await copyLogChunk(folder, note ?? newLogProgress(all), work).finally(() => folder.close())
    if (next === null) return
  }
}

test('copyLogChunk copies whole lines as they come, and the rest at the end', async () => {
  await copy()
  expect(log()).toBe('')
  say('one\ntwo\nth')
  await copy()
  expect(log()).toBe('one\ntwo\n')
  say('ree')
  await copy()
  expect(log()).toBe('one\ntwo\n')
  await copy({ isOver: true })
  expect(log()).toBe('one\ntwo\nthree')
  expect(fs.statSync(at('session.log')).mode & 0o777).toBe(0o600)
})

test('the log is readable text without secrets, with the attempts in order', async () => {
  say('10%\r100%\r\n\u001b[31mred\u001b[0m token=abc123def456\r\nno end')
  say('again\n', 3)
  await copy({ attempt: 3, isOver: true })
  expect(log()).toBe('100%\nred token=************\nno end\n── attempt 2\n── attempt 3\nagain\n')
})

test('copyLogChunk copies no more of a transcript than is recorded', async () => {
  fs.writeFileSync(sessionFolder(temp.home, ID).transcript, 'recorded\nnot yet\n')
  await copy({ transcript: 9 })
  expect(log()).toBe('recorded\n')
  await copy({ transcript: 17, attempt: 5 })
  expect(log()).toBe('recorded\nnot yet\n')
})

test('copyLogChunk splits an endless line, but not within a secret or a character', async () => {
  const secret = `ghp_${'a1'.repeat(18)}`
  say(`${'x, '.repeat(21_840)}${secret}`)
  await copy()
  expect(log()).toMatch(/^(?:x, )+$/)
  say('é'.repeat(100_000))
  await copy()
  await copy({ isOver: true })
  expect(log()).toBe(`${'x, '.repeat(21_840)}ghp_${'*'.repeat(36)}${'é'.repeat(100_000)}`)
})

test('the mask hides a private key that is split over several chunks', async () => {
  const body = `${'MIIEvQIBADANBgkqhkiG9w0BAQEFAASC'.repeat(2)}\n`
  say('-----BEGIN PRIVATE KEY-----\n')
  await copy()
  say(body.repeat(3))
  await copy()
  say(`${body}-----END PRIVATE KEY-----\n${body}`)
  await copy()
  expect(log()).toBe(
    `-----BEGIN PRIVATE KEY-----\n${`${'*'.repeat(64)}\n`.repeat(4)}-----END PRIVATE KEY-----\n${body}`,
  )
})

test('the log has every line once, whenever the writer is killed and whatever others do to the file', async () => {
  const actions = fc.constantFrom(
    'say',
    'copy',
    'copy',
    'copy one',
    'die',
    'remove',
    'cut',
    'scribble',
    'link',
    'hard link',
    'attempt',
  )
  const victim = path.join(project, 'victim')
  await fc.assert(
    fc.asyncProperty(fc.array(actions, { maxLength: 30 }), async story => {
      fs.rmSync(path.join(project, '.agent'), { recursive: true, force: true })
      fs.rmSync(path.join(sessionFolder(temp.home, ID).root, 'attempts'), { recursive: true, force: true })
      fs.writeFileSync(victim, 'precious')
      note = null
      let attempt = 1
      let expected = ''
      for (const [turn, action] of story.entries()) {
        const file = at('session.log')
        const found = fs.lstatSync(file, { throwIfNoEntry: false })
        const isThere = found?.isFile() === true && found.nlink === 1
        if (action === 'say') {
          say(`line ${turn}\n`, attempt)
          expected += `line ${turn}\n`
        } else if (action === 'copy') await copy({ attempt })
        else if (action === 'copy one') await copy({ attempt }, { pieces: 1 })
        else if (action === 'die') await copy({ attempt }, { pieces: 1, isNoted: false })
        else if (action === 'attempt') expected += `── attempt ${++attempt}\n`
        else if (action === 'remove') fs.rmSync(file, { force: true })
        else if (action === 'cut' && isThere) fs.truncateSync(file, Math.floor(fs.statSync(file).size / 2))
        else if (action === 'scribble' && isThere) fs.appendFileSync(file, 'scribble')
        else if (isThere) {
          fs.rmSync(file)
          if (action === 'link') fs.symlinkSync(victim, file)
          else fs.linkSync(victim, file)
        }
      }
      await copy({ attempt, isOver: true })
      expect(log()).toBe(expected)
      expect(fs.readFileSync(victim, 'utf8')).toBe('precious')
    }),
    { numRuns: 60 },
  )
})

test('copyLogChunk compresses a large log, and the archives and the log together hold all output', async () => {
  const line = (n: number): string => `${n} ${'so it goes '.repeat(90)}\n`
  const said = Array.from({ length: 45_000 }, (_, n) => line(n)).join('')
  say(said)
  await copy({ isOver: true })
  const parts = [1, 2].map(n => zlib.gunzipSync(fs.readFileSync(at(`session.log.${n}.gz`))).toString())
  expect(fs.readdirSync(path.dirname(at('x'))).sort()).toEqual([
    '.gitignore',
    '.session',
    'session.log',
    'session.log.1.gz',
    'session.log.2.gz',
  ])
  for (const part of parts) expect(part.length).toBeGreaterThanOrEqual(16 * MB)
  expect(parts.join('') + log() === said).toBe(true)
  fs.rmSync(at('session.log'))
  await copy({ isOver: true })
  expect(parts.join('') + log() === said).toBe(true)
  fs.rmSync(path.join(project, '.agent'), { recursive: true })
  await copy({ isOver: true })
  expect(
    [1, 2].map(n => zlib.gunzipSync(fs.readFileSync(at(`session.log.${n}.gz`))).toString()).join('') + log() === said,
  ).toBe(true)
})
