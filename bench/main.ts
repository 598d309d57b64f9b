import fs from 'node:fs'
import path from 'node:path'
import { checkpoint } from './figures/checkpoint.ts'
import { death } from './figures/death.ts'
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
import { openStage, type Stage } from './product/stage.ts'
import { describeMachine } from './report/machine.ts'
import { renderReport } from './report/report.ts'
import type { Row } from './report/row.ts'
import { textTable } from './report/table.ts'
import { Workshop } from './workshop.ts'

/** In this order: the fleet grows, is measured at rest, and dies last. */
const FIGURES: Readonly<Record<string, (shop: Workshop) => Promise<Row[]>>> = {
  latency,
  turn,
  death,
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
  const stage = openStage(repository)
  const shop = new Workshop({ stage, peers, isQuick: words.includes('--quick'), say })
  const rows = await measureAll(shop, names.length === 0 ? Object.keys(FIGURES) : names)
  await leave(shop, stage)
  console.log(textTable(rows))
  for (const reason of shop.notMeasured) console.log(`not measured: ${reason}`)
  if (words.includes('--write'))
    fs.writeFileSync(path.join(repository, 'docs/benchmarks.md'), renderReport(rows, machine, shop.notMeasured))
  for (const promise of shop.broken) console.error(`BROKEN: ${promise}`)
  process.exitCode = shop.broken.length === 0 ? 0 : 1
}

async function measureAll(shop: Workshop, names: readonly string[]): Promise<Row[]> {
  process.once('SIGINT', () => void leave(shop, shop.stage).then(() => process.exit(130)))
  const rows: Row[] = []
  for (const [name, figure] of Object.entries(FIGURES).filter(([name]) => names.includes(name))) {
    const begun = performance.now()
    try {
      rows.push(...(await figure(shop)))
      shop.say(`${name.padEnd(9)} measured in ${((performance.now() - begun) / 1000).toFixed(1)} s`)
    } catch (cause) {
      shop.broken.push(`${name}: ${cause instanceof Error ? cause.stack : cause}`)
    }
  }
  return rows
}

/** Closes everything; a process that is still there is a promise broken, and is ended all the same. */
async function leave(shop: Workshop, stage: Stage): Promise<void> {
  await shop.close()
  for (const { pid, command } of processesWith(stage.root)) {
    shop.broken.push(`left behind: ${pid} ${command}`)
    process.kill(pid, 'SIGKILL')
  }
  fs.rmSync(stage.root, { recursive: true, force: true })
}

await main(process.argv.slice(2))
