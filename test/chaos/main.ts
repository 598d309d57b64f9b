import fs from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { reportOf } from './report/report.ts'
import type { Result } from './report/result.ts'
import { textOf } from './report/table.ts'
import { runChaos } from './run.ts'

/**
 * usage: main REPOSITORY AGENT [--kills N] [--seed S] [--sessions M] [--minutes T] [--only FAULT]… [--write] [--keep]
 */
async function main([repository = '.', agent = '', ...words]: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...words],
    options: {
      kills: { type: 'string', default: '400' },
      seed: { type: 'string', default: String(Date.now() % 1_000_000) },
      sessions: { type: 'string', default: '24' },
      minutes: { type: 'string', default: '120' },
      only: { type: 'string', multiple: true, default: [] },
      write: { type: 'boolean', default: false },
      keep: { type: 'boolean', default: false },
    },
  })
  const numbers = { kills: Number(values.kills), seed: Number(values.seed), sessions: Number(values.sessions) }
  const say = (sentence: string): void => console.error(sentence)
  say(`${numbers.kills} kills, seed ${numbers.seed}, ${numbers.sessions} sessions at a time`)
  const { only, keep } = values
  const result = await runChaos({ repository, agent, ...numbers, minutes: Number(values.minutes), only, keep, say })
  console.log(textOf(result))
  if (values.write) fs.writeFileSync(path.join(repository, 'docs/chaos.md'), reportOf(result))
  process.exitCode = conclude(result)
}

function conclude({ findings, seed, evidence, kills, seconds }: Result): number {
  const pace = `${kills} kills in ${Math.round(seconds)} s`
  if (findings.all.length === 0) {
    console.log(`every promise was kept: ${pace}, seed ${seed}`)
    return 0
  }
  console.log(`${findings.all.length} times a promise was broken: ${pace}, seed ${seed}; evidence in ${evidence}`)
  for (const { promise, evidence } of findings.all.slice(0, 40)) console.log(`  ${promise}: ${evidence}`)
  return 1
}

await main(process.argv.slice(2))
// A failed run may leave timers and connections behind.
process.exit()
