import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { cloneProduct, type ProductClone } from '../../../bench/product/clone.ts'
import { reportOf } from './report.ts'
import { runRound, type Round } from './round.ts'

/** usage: main REPOSITORY _ --loops [--rounds N] [--seed S] [--jobs J] [--write] [--keep] */
async function main([repository = '.', , ...words]: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...words],
    options: {
      loops: { type: 'boolean', default: true },
      rounds: { type: 'string', default: '10' },
      seed: { type: 'string', default: String(Date.now() % 1_000_000) },
      jobs: { type: 'string', default: '2' },
      write: { type: 'boolean', default: false },
      keep: { type: 'boolean', default: false },
    },
  })
  const seed = Number(values.seed)
  const clone = cloneProduct(repository)
  const begun = performance.now()
  console.error(`${values.rounds} loops, seed ${seed}, ${values.jobs} at a time`)
  const rounds = await runAll(clone, seed, { count: Number(values.rounds), jobs: Number(values.jobs) })
  const seconds = (performance.now() - begun) / 1000
  const commit = spawnSync('git', ['rev-parse', '--short=12', 'HEAD'], {
    cwd: repository,
    encoding: 'utf8',
  }).stdout.trim()
  const failed = rounds.filter(({ findings }) => findings.length > 0)
  if (values.write)
    fs.writeFileSync(path.join(repository, 'docs/chaos-loops.md'), reportOf({ rounds, seed, seconds, commit }))
  for (const round of rounds)
    if (round.findings.length === 0 && !values.keep) fs.rmSync(round.folder, { recursive: true })
  if (failed.length === 0 && !values.keep) fs.rmSync(clone.root, { recursive: true, force: true })
  const kills = rounds.reduce((sum, round) => sum + killsIn(round), 0)
  console.log(
    failed.length === 0
      ? `every promise was kept: ${rounds.length} loops, ${kills} kills in ${Math.round(seconds)} s, seed ${seed}`
      : `${failed.length} of ${rounds.length} loops broke a promise: ${kills} kills in ${Math.round(seconds)} s`,
  )
  process.exitCode = failed.length === 0 ? 0 : 1
}

/** Runs this many rounds at a time and reports each at its end. */
async function runAll(
  clone: ProductClone,
  seed: number,
  { count, jobs }: { count: number; jobs: number },
): Promise<Round[]> {
  const rounds: Round[] = []
  let next = 0
  const work = async (): Promise<void> => {
    while (next < count) {
      const round = await runRound(clone, seed + next++)
      rounds.push(round)
      printRound(round)
    }
  }
  await Promise.all(Array.from({ length: jobs }, work))
  return rounds.toSorted((one, other) => one.seed - other.seed)
}

function printRound(round: Round): void {
  const { seed, kind, tasks, seconds, findings, folder } = round
  const what = `seed ${seed}: ${kind}, ${tasks} tasks, ${killsIn(round)} kills in ${Math.round(seconds)} s`
  if (findings.length === 0) return console.error(`ok      ${what}`)
  console.error(`BROKEN  ${what}; everything is in ${folder}`)
  for (const finding of findings) console.error(`        ${finding}`)
  console.error(`        again: npm run chaos -- --loops --rounds 1 --seed ${seed}`)
}

function killsIn({ kills }: Round): number {
  return Object.values(kills).reduce((sum, one) => sum + one, 0)
}

await main(process.argv.slice(2))
