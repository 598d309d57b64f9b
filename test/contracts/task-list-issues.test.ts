import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { installFakeBd, BeadsProject } from '../../testkit/tracker/beads-project.ts'
import { tempFolder } from '../../testkit/agents/temp-folder.ts'
import { findTaskSource } from '../../src/world/task-list/find-source.ts'

const never = new AbortController().signal

async function open(manners: string, issues: readonly object[]) {
  const folder = tempFolder()
  const cwd = path.join(folder, 'project')
  const project = new BeadsProject(cwd)
  project.put('stand-in.json', JSON.stringify(issues))
  const source = await findTaskSource(
    { cwd, env: { PATH: `${installFakeBd(folder)}:/usr/bin:/bin`, BD_STANDIN: manners } },
    'beads',
  )
  return { source, cwd, project }
}

const blocks = (id: string, on: string) => ({ issue_id: id, depends_on_id: on, type: 'blocks' })

describe.each(['old', 'new', 'latest'])('a task list of beads (bd: %s)', manners => {
  test('contains open issues and those in progress, and a blocked issue waits for the issues that bd names', async () => {
    const { source, cwd } = await open(manners, [
      {
        id: 'bd-1',
        title: 'ship',
        status: 'open',
        blocked: true,
        dependencies: [blocks('bd-1', 'bd-2'), blocks('bd-1', 'bd-9')],
      },
      {
        id: 'bd-2',
        title: 'build',
        status: 'open',
        description: 'all of it',
        acceptance_criteria: 'it runs',
        parent: 'bd-e',
      },
      { id: 'bd-3', title: 'test', status: 'in_progress' },
      { id: 'bd-4', title: 'held', status: 'open', blocked: true },
      { id: 'bd-9', title: 'gone', status: 'closed' },
      { id: 'bd-e', title: 'the whole', status: 'open', issue_type: 'epic' },
      { id: 'bd-5', title: 'tell', status: 'open', blocked: true, dependencies: [blocks('bd-5', 'bd-e')] },
    ])
    expect(source).toMatchObject({ kind: 'beads', file: null })
    const { items, objections } = await source.read(cwd, never)
    expect(items.map(({ key, label, path, after }) => [key, label, path, after])).toEqual([
      ['bd-3', 'bd-3', [], []],
      ['bd-2', 'bd-2', ['the whole'], []],
      ['bd-1', 'bd-1', [], ['bd-2']],
      ['bd-5', 'bd-5', [], ['bd-2']],
    ])
    expect(items[1]).toMatchObject({
      title: 'build',
      body: 'all of it\n\nAcceptance criteria:\nit runs',
      isDone: false,
    })
    expect(objections).toEqual([
      'bd-4 (held) is not ready, and bd names no open issue that it waits for: the loop skips it until it is ready',
    ])
  })

  test('closes an issue with a reason, reopens another, and leaves the rest unchanged', async () => {
    const { source, cwd, project } = await open(manners, [
      { id: 'bd-1', title: 'one', status: 'open' },
      { id: 'bd-2', title: 'two', status: 'closed' },
      { id: 'bd-3', title: 'three', status: 'in_progress' },
    ])
    const marks = [
      { key: 'bd-1', isDone: true, reason: 'two commits; "tests" pass' },
      { key: 'bd-2', isDone: false, reason: 'nothing was done' },
      { key: 'bd-3', isDone: false, reason: 'nothing was done' },
      { key: 'bd-8', isDone: true, reason: 'it is not there' },
    ]
    await source.mark(cwd, marks, never)
    await source.mark(cwd, marks, never)
    expect(['bd-1', 'bd-2', 'bd-3'].map(id => project.status(id))).toEqual(['closed', 'open', 'in_progress'])
    expect(project.lines('closed')).toEqual(['bd-1 two commits; "tests" pass'])
    const changes = project
      .calls()
      .filter(([word, flag]) => ['reopen', 'update'].includes(word ?? '') && flag !== '--help')
    expect(changes).toHaveLength(1)
  })

  test('reports an empty list and a failing bd in a sentence', async () => {
    const { source, cwd, project } = await open(manners, [])
    expect(await source.read(cwd, never)).toEqual({
      items: [],
      objections: ['beads has no open issues: make one with bd create'],
    })
    project.setBehavior('failing')
    await expect(source.read(cwd, never)).rejects.toThrow('running bd list: exit code 1: database is locked')
    const mark = { key: 'bd-1', isDone: true, reason: '' }
    await expect(source.mark(cwd, [mark], never)).rejects.toThrow('database is locked')
  })
})
