import fs from 'node:fs'
import path from 'node:path'
import { hideFromGit } from '../../os/hide-from-git.ts'
import type { Git } from '../git.ts'
import { headOf } from '../head.ts'
import { identityIn } from '../identity.ts'
import type { Memory } from '../memory.ts'
import type { Place } from '../place.ts'
import { findRepository, NoRepository } from '../repository.ts'
import { alone } from './alone.ts'
import { patiently } from './locks.ts'
import { lookNow } from './look-now.ts'
import { Note } from './notes.ts'
import { placeAt } from './shop.ts'
import { treeWithout, changesOf } from './tree-without.ts'

const MESSAGE = 'What was there at the beginning'

/** Makes a repository of a folder, with a first commit. The note tells a half-made one from one that the user has made. */
export async function found(git: Git, memory: Memory): Promise<void> {
  const folder = path.join(git.cwd, '.git', 'oneshot')
  const note = new Note<{ isBegun: true }>(path.join(folder, 'founding'))
  if (note.read() === null && (await isRepository(git))) return
  await alone(path.join(folder, 'workshop'), git.signal, async turn => {
    if (note.read() === null && (await isRepository(git))) return
    note.write({ isBegun: true })
    const own = git.at(git.cwd, { ...turn.env, GIT_CEILING_DIRECTORIES: path.dirname(git.cwd) })
    await patiently({ signal: git.signal, ours: () => locksIn(path.dirname(folder)), folders: null }, () =>
      make(own, memory),
    )
    note.drop()
  })
}

/** Nobody but us has worked with it yet. */
function locksIn(gitDir: string): string[] {
  const names = fs.existsSync(gitDir) ? fs.readdirSync(gitDir) : []
  const refs = path.join(gitDir, 'refs')
  const below = fs.existsSync(refs) ? fs.readdirSync(refs, { recursive: true, encoding: 'utf8' }) : []
  const all = [...names.map(name => path.join(gitDir, name)), ...below.map(name => path.join(refs, name))]
  return all.filter(name => name.endsWith('.lock'))
}

async function make(git: Git, memory: Memory): Promise<void> {
  const isChosen = (await git.ask(['config', 'init.defaultBranch'])).code === 0
  await git.run([...(isChosen ? [] : ['-c', 'init.defaultBranch=main']), 'init', '--quiet'])
  hideFromGit(git.cwd, ['.agent/'])
  await commitFirst(await placeAt(git, memory))
}

async function commitFirst(place: Place): Promise<void> {
  const { git, repository } = place
  if ((await headOf(place)) === null) {
    const { tree: all } = await lookNow(place)
    const strays = (await changesOf(place, repository.nothing.tree, all)).filter(entry => entry.isRepository)
    const tree = await treeWithout(place, all, strays)
    const env = await identityIn(git)
    const commit = await git.line(['commit-tree', tree], { input: MESSAGE, env })
    await git.run(['update-ref', '-m', `commit (initial): ${MESSAGE}`, 'HEAD', commit, repository.nothing.commit], {
      env,
    })
  }
  await git.run(['reset', '--quiet', '--mixed'])
}

/** Whether this folder lies in the working tree of one. */
async function isRepository(git: Git): Promise<boolean> {
  try {
    await findRepository(git)
    return true
  } catch (cause) {
    if (cause instanceof NoRepository) return false
    throw cause
  }
}
