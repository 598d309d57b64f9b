import fs from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { formatIso } from '../../src/lib/time.ts'
import type { Observation } from '../../src/ports/agent.ts'
import { type ReadLine, readAll } from './read-all.ts'

const ROOT = path.join(import.meta.dirname, '../../test/golden')

/** Returns the path of a file that the real program wrote: `codex/0.166.0/threads/long.jsonl`. */
export function goldenPath(name: string): string {
  return path.join(ROOT, name)
}

/**
 * Compares observations with golden files: `<version>/<case>.jsonl` holds the program's output, and `<case>.txt` beside
 * it the expected transcript and observations.
 */
export function testGoldenFiles(kind: string, read: ReadLine): void {
  describe.each(fs.readdirSync(goldenPath(kind)))(`${kind} %s`, version => {
    const folder = goldenPath(`${kind}/${version}`)
    const cases = fs.readdirSync(folder).filter(name => name.endsWith('.jsonl'))
    it.each(cases)('%s reads as it did', async name => {
      const file = path.join(folder, name)
      const { transcript, observations } = readAll(read, fs.readFileSync(file, 'utf8').split('\n'))
      const lines = observations.map(item => `${formatObservation(item)}\n`)
      await expect(`${transcript}\n${lines.join('')}`).toMatchFileSnapshot(file.replace(/\.jsonl$/, '.txt'))
    })
  })
}

/** Renders an observation with times that a person can check. */
function formatObservation(observation: Observation): string {
  return JSON.stringify(observation, (key, value: unknown) =>
    key === 'resetAt' && typeof value === 'number' ? formatIso(value) : value,
  )
}
