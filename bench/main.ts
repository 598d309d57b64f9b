import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { checkpoint } from './figures/checkpoint.ts'
import { exitDetection } from './figures/exit-detection.ts'
import { history } from './figures/history.ts'
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
import { bestOf, compareWithReport, describeComparison } from './report/guard.ts'
import { describeMachine, type Machine } from './report/machine.ts'
import { renderPlot } from './report/plot.ts'
import { renderReport } from './report/report.ts'
import { addRun, findRatio, type Ratio, ratiosOf, readSeries, renderSeries } from './report/series.ts'
import type { Row } from './report/row.ts'
import { textTable } from './report/table.ts'
import { BenchContext, type Effort } from './context.ts'

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
  history,
  recovery,
}

/** The figures of the guard: cheap ones that every change can affect. */
const GUARDED = ['latency', 'restart', 'memory', 'list', 'history']
/** Number of measurements after which the guard believes that a figure became worse. */
const GUARD_TRIES = 4
const FLAGS = ['--quick', '--guard', '--write']

/** usage: main REPOSITORY [--quick | --guard] [--write] [FIGURE …], or main talk LINES REPORT */
async function main([repository = '.', ...words]: readonly string[]): Promise<void> {
  if (repository === 'talk') return talk(words)
  const names = words.filter(word => !word.startsWith('--'))
  const unknown = words.filter(word => !FLAGS.includes(word) && FIGURES[word] === undefined)
  if (unknown.length > 0) {
    console.error(`unknown: ${unknown.join(', ')}; figures are ${Object.keys(FIGURES).join(', ')}`)
    process.exitCode = 2
    return
  }
  if (words.includes('--guard')) return guard(repository, names.length === 0 ? GUARDED : names)
  const effort = words.includes('--quick') ? 'quick' : 'full'
  const machine = describeMachine(effort === 'quick')
  const { rows, broken, notMeasured } = await measure(
    repository,
    names.length === 0 ? Object.keys(FIGURES) : names,
    effort,
  )
  console.log(textTable(rows))
  for (const reason of notMeasured) console.log(`not measured: ${reason}`)
  if (words.includes('--write')) writeReport(repository, { rows, machine, notMeasured })
  process.exitCode = broken.length === 0 ? 0 : 1
}

/** Fails if a ratio is clearly worse than in the last run of the committed series. */
async function guard(repository: string, names: readonly string[]): Promise<void> {
  const report = readSeries(path.join(repository, SERIES)).at(-1)
  if (report === undefined) throw new Error(`${SERIES} has no run to compare with: npm run bench -- --write`)
  let ratios: Ratio[] = []
  let open = names.filter(name => FIGURES[name] !== undefined)
  let isBroken = false
  for (let attempt = 1; attempt <= GUARD_TRIES && open.length > 0; attempt++) {
    const byFigure = new Map<string, Ratio[]>()
    const { broken } = await measure(repository, open, 'guard', (name, rows) => byFigure.set(name, ratiosOf(rows)))
    isBroken ||= broken.length > 0
    const measured = [...byFigure.values()].flat()
    ratios = attempt === 1 ? measured : bestOf(ratios, measured)
    const worse = compareWithReport(ratios, report).filter(({ isWorse }) => isWorse)
    open = open.filter(name => byFigure.get(name)?.some(row => findRatio(worse, row) !== undefined))
    if (open.length > 0 && attempt < GUARD_TRIES) console.error(`measuring again: ${open.join(', ')}`)
  }
  const comparisons = compareWithReport(ratios, report)
  for (const comparison of comparisons) console.log(describeComparison(comparison))
  const isCompared = comparisons.some(({ before }) => before !== undefined)
  if (!isCompared) console.error('the report has none of these figures')
  const isWorse = comparisons.some(comparison => comparison.isWorse)
  if (isWorse) console.error(`at least one figure is more than 20 % worse than in docs/benchmarks.md`)
  process.exitCode = isBroken || isWorse || !isCompared ? 1 : 0
}

interface Result {
  readonly rows: readonly Row[]
  readonly broken: readonly string[]
  readonly notMeasured: readonly string[]
}

async function measure(
  repository: string,
  names: readonly string[],
  effort: Effort,
  onFigure?: (name: string, rows: readonly Row[]) => void,
): Promise<Result> {
  const say = (sentence: string): void => console.error(sentence)
  const peers = installPeers(say, effort === 'guard')
  const clone = cloneProduct(repository)
  const context = new BenchContext({ stage: clone, peers, effort, say })
  const rows = await measureAll(context, names, onFigure)
  await leave(context, clone)
  for (const promise of context.broken) console.error(`BROKEN: ${promise}`)
  return { rows, broken: context.broken, notMeasured: context.notMeasured }
}

const SERIES = 'docs/benchmark-series.json'

function writeReport(
  repository: string,
  { rows, machine, notMeasured }: { rows: readonly Row[]; machine: Machine; notMeasured: readonly string[] },
): void {
  const write = (name: string, text: string): void => fs.writeFileSync(path.join(repository, name), text)
  const { version } = JSON.parse(fs.readFileSync(path.join(repository, 'package.json'), 'utf8')) as { version: string }
  const commit = execFileSync('git', ['rev-parse', '--short=10', 'HEAD'], { cwd: repository, encoding: 'utf8' }).trim()
  const { date, isQuick } = machine
  const runs = addRun(readSeries(path.join(repository, SERIES)), {
    version,
    commit,
    date,
    isQuick,
    ratios: ratiosOf(rows),
  })
  write('docs/benchmarks.md', renderReport(rows, machine, notMeasured))
  write(SERIES, renderSeries(runs))
  write('docs/benchmark-series.svg', renderPlot(runs))
}

async function measureAll(
  context: BenchContext,
  names: readonly string[],
  onFigure?: (name: string, rows: readonly Row[]) => void,
): Promise<Row[]> {
  const onInterrupt = (): void => void leave(context, context.clone).then(() => process.exit(130))
  process.once('SIGINT', onInterrupt)
  const rows: Row[] = []
  for (const [name, figure] of Object.entries(FIGURES).filter(([name]) => names.includes(name))) {
    const begun = performance.now()
    try {
      const measured = await figure(context)
      onFigure?.(name, measured)
      rows.push(...measured)
      context.say(`${name.padEnd(9)} measured in ${((performance.now() - begun) / 1000).toFixed(1)} s`)
    } catch (cause) {
      context.broken.push(`${name}: ${cause instanceof Error ? cause.stack : cause}`)
    }
  }
  process.off('SIGINT', onInterrupt)
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
