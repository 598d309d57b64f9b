import fs from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Memory, Reading } from '../../../ports/agent.ts'
import { read } from './read.ts'

/** What the real program wrote (long lists of its init left out), and what we make of it: the transcript, then each observation. */
const golden = path.join(import.meta.dirname, '../../../../test/golden/claude')

describe.each(fs.readdirSync(golden))('claude %s', version => {
  const cases = fs.readdirSync(path.join(golden, version)).filter(name => name.endsWith('.jsonl'))
  it.each(cases)('%s reads as it did', async name => {
    const file = path.join(golden, version, name)
    const readings = readAll(fs.readFileSync(file, 'utf8'))
    const transcript = readings.map(reading => reading.text ?? '').join('')
    const observations = readings.flatMap(reading => reading.observations).map(item => `${JSON.stringify(item)}\n`)
    await expect(`${transcript}\n${observations.join('')}`).toMatchFileSnapshot(file.replace(/\.jsonl$/, '.txt'))
  })
})

function readAll(output: string): Reading[] {
  let memory: Memory = {}
  return output
    .split('\n')
    .filter(line => line !== '')
    .map(line => {
      const reading = read(line, memory)
      // It is stored between two lines.
      memory = JSON.parse(JSON.stringify(reading.memory ?? memory)) as Memory
      return reading
    })
}
