import fs from 'node:fs'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { LoopView } from '../../../src/api/contract/loop-view.ts'
import type { SessionView } from '../../../src/api/contract/responses.ts'
import type { LoopEnvironment } from './loop-environment.ts'

/** Compares board, list, branch and files after a loop has ended. Returns one sentence for each contradiction. */
export async function checkEnd(
  environment: LoopEnvironment,
  loop: SessionView,
  files: readonly string[],
  kind: 'serial' | 'parallel',
): Promise<string[]> {
  if (loop.phase !== 'ended') return [`the loop is stuck: ${loop.phase}, ${loop.reason}`]
  const found: string[] = []
  const board = JSON.parse((await environment.oneshot('ralph', 'status', loop.id, '--json')).stdout) as LoopView
  if (loop.outcome !== 'done') found.push(`the loop is ${loop.outcome}: ${loop.reason}`)
  if (board.tasks.length !== files.length) found.push(`the board has ${board.tasks.length} of ${files.length} tasks`)
  for (const { id, state, tries, evidence } of board.tasks)
    if (state !== 'done' || tries !== 1) found.push(`task ${id} is ${state} after ${tries} tries: ${evidence}`)
  if (kind === 'parallel') found.push(...(await land(environment, loop)))
  found.push(
    ...(await checkFiles(environment, files)),
    ...checkJournal(environment, files),
    ...(await checkWorktrees(environment)),
  )
  return found
}

async function land(environment: LoopEnvironment, { id }: SessionView): Promise<string[]> {
  const { code, stderr } = await environment.oneshot('ralph', 'land', id)
  return code === 0 ? [] : [`landing failed: ${stderr.trim()}`]
}

async function checkFiles(environment: LoopEnvironment, files: readonly string[]): Promise<string[]> {
  const found: string[] = []
  const list = fs.readFileSync(path.join(environment.project, 'PRD.md'), 'utf8')
  const expected = files.map(file => `- [x] the file [make ${file}]\n`).join('')
  if (list !== expected) found.push(`the list is ${JSON.stringify(list)}`)
  const subjects = (await environment.git('log', '--format=%s')).split('\n')
  for (const file of files) {
    const here = fs.existsSync(path.join(environment.project, file))
    if (!here || fs.readFileSync(path.join(environment.project, file), 'utf8') !== `${file}\n`)
      found.push(`${file} is wrong`)
    if ((await environment.git('show', `HEAD:${file}`)) !== file) found.push(`${file} is not committed`)
    const made = subjects.filter(subject => subject === `make ${file}`).length
    if (made !== 1) found.push(`${file} was committed ${made} times`)
  }
  const changed = (await environment.git('status', '--porcelain'))
    .split('\n')
    .filter(line => !/^(?: ?M PRD\.md)?$/.test(line))
  return changed.length === 0 ? found : [...found, `git status: ${changed.join(', ')}`]
}

/** Checks that one session works on each task, whatever is killed: a second one would repeat the work. */
function checkJournal(environment: LoopEnvironment, files: readonly string[]): string[] {
  const worked = environment.workedOn()
  return files.flatMap(file => {
    const sessions = worked.get(file)?.size ?? 0
    return sessions === 1 ? [] : [`${file} was worked on by ${sessions} sessions`]
  })
}

async function checkWorktrees(environment: LoopEnvironment): Promise<string[]> {
  const worktrees = (await environment.git('worktree', 'list', '--porcelain')).match(/^worktree .*/gm) ?? []
  const branches = (await environment.git('branch', '--format=%(refname:short)'))
    .split('\n')
    .filter(name => name !== 'main')
  const folder = path.join(environment.project, '.agent', 'worktrees')
  const folders = fs.existsSync(folder) ? fs.readdirSync(folder, { recursive: true }) : []
  return [
    ...worktrees.slice(1).map(line => `left behind: ${line}`),
    ...branches.map(name => `left behind: branch ${name}`),
    ...folders.filter(name => /[/\\]/.test(String(name))).map(name => `left behind: folder ${String(name)}`),
  ]
}

/** Checks that no process of the round lives after an orderly stop. */
export async function checkLeft(environment: LoopEnvironment): Promise<string[]> {
  for (let look = 0; look < 150 && environment.processes().length > 0; look++) await pause(100)
  return environment.processes().map(({ pid, command }) => `left behind: process ${pid} ${command}`)
}
