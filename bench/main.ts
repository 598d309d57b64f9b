import fs from 'node:fs'
import path from 'node:path'
import { checkpoint } from './figures/checkpoint.ts'
import { exitDetection } from './figures/exit-detection.ts'
import { idle } from './figures/idle.ts'
import { latency } from './figures/latency.ts'
import { list } from './figures/list.ts'
import { loop } from './figures/loop.ts'
import { memory } from './figures/memory.ts'
import { output } from './figures/output.ts'
import { recovery } from './figures/recovery.ts'
import { restart } from './figures/restart.ts'
import { turn } from './figures/turn.ts'
import { processesWith } from './measure/proc.ts'
import { installPeers } from './peers/install.ts'
import { talk } from './programs/talk.ts'
import { cloneProduct, type ProductClone } from './product/clone.ts'
import { describeMachine } from './report/machine.ts'
import { renderReport } from './report/report.ts'
import type { Row } from './report/row.ts'
import { textTable } from './report/table.ts'
import { BenchContext } from './context.ts'

/** The order matters: the fleet grows, then the figures measure it at rest, and its death comes last. */
const FIGURES: Readonly<Record<string, (context: BenchContext) => Promise<Row[]>>> = {
  latency,
  turn,
  death: exitDetection,
  restart,
  output,
  checkpoint,
  loop,
  memory,
  idle,
  list,
  recovery,
}

/** usage: main REPOSITORY [--quick] [--write] [FIGURE …], or main talk LINES REPORT */
async function main([repository = '.', ...words]: readonly string[]): Promise<void> {
  if (repository === 'talk') return talk(words)
  const names = words.filter(word => !word.startsWith('--'))
  const unknown = words.filter(word => !['--quick', '--write'].includes(word) && FIGURES[word] === undefined)
  if (unknown.length > 0) {
    console.error(`unknown: ${unknown.join(', ')}; figures are ${Object.keys(FIGURES).join(', ')}`)
    process.exitCode = 2
    return
  }
  const say = (sentence: string): void => console.error(sentence)
  const machine = describeMachine(words.includes('--quick'))
  const peers = installPeers(say)
  const clone = cloneProduct(repository)
  const context = new BenchContext({ stage: clone, peers, isQuick: words.includes('--quick'), say })
  const rows = await measureAll(context, names.length === 0 ? Object.keys(FIGURES) : names)
  await leave(context, clone)
  console.log(textTable(rows))
  for (const reason of context.notMeasured) console.log(`not measured: ${reason}`)
  if (words.includes('--write'))
    fs.writeFileSync(path.join(repository, 'docs/benchmarks.md'), renderReport(rows, machine, context.notMeasured))
  for (const promise of context.broken) console.error(`BROKEN: ${promise}`)
  process.exitCode = context.broken.length === 0 ? 0 : 1
}

async function measureAll(context: BenchContext, names: readonly string[]): Promise<Row[]> {
  process.once('SIGINT', () => void leave(context, context.clone).then(() => process.exit(130)))
  const rows: Row[] = []
  for (const [name, figure] of Object.entries(FIGURES).filter(([name]) => names.includes(name))) {
    const begun = performance.now()
    try {
      rows.push(...(await figure(context)))
      context.say(`${name.padEnd(9)} measured in ${((performance.now() - begun) / 1000).toFixed(1)} s`)
    } catch (cause) {
      context.broken.push(`${name}: ${cause instanceof Error ? cause.stack : cause}`)
    }
  }
  return rows
}

/** Closes everything. Reports a leftover process as a broken promise and ends it. */
async function leave(context: BenchContext, clone: ProductClone): Promise<void> {
  await context.close()
  for (const { pid, command } of processesWith(clone.root)) {
    context.broken.push(`left behind: ${pid} ${command}`)
    process.kill(pid, 'SIGKILL')
  }
  fs.rmSync(clone.root, { recursive: true, force: true })
}

await main(process.argv.slice(2))
