import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import type { ListBackup } from '../../ports/task-source.ts'
import { fileListBackup } from './list-backup.ts'

const LIST = '- [ ] one\n- [ ] two\n'
let [root, project] = ['', '']
beforeEach(() => {
  root = fs.mkdtempSync(path.join(os.tmpdir(), 'os-list-'))
  project = path.join(root, 'project')
  fs.mkdirSync(path.join(project, '.git'), { recursive: true })
  onTestFinished(() => fs.rmSync(root, { recursive: true }))
})

/** Returns the backup of a list that the loop has seen. */
function backUp(file: string): ListBackup {
  const list = path.join(project, file)
  fs.mkdirSync(path.dirname(list), { recursive: true })
  fs.writeFileSync(list, LIST)
  const backup = fileListBackup(file, path.join(root, 'state', 'list'))
  backup.save(project)
  return backup
}

/** Runs the command that restores the list, as a user would. */
function restoreByHand(backup: ListBackup, name?: string): void {
  const command = backup.restoreCommand(project, name) ?? 'false'
  execFileSync('sh', ['-c', command], { cwd: project, timeout: 10_000, stdio: 'pipe' })
}

describe('the command that restores a list', () => {
  const precious = (): string => path.join(root, 'precious.txt')
  const shell = (line: string) => (): void => void execFileSync('sh', ['-c', line], { cwd: project })
  const cases: readonly (readonly [string, string, () => void])[] = [
    ['is gone', 'PRD.md', shell('rm PRD.md')],
    ['is a link to another file', 'PRD.md', shell('ln -sf ../precious.txt PRD.md')],
    ['is a link to nothing', 'PRD.md', shell('ln -sf nowhere PRD.md')],
    ['is a pipe', 'PRD.md', shell('rm PRD.md; mkfifo PRD.md')],
    ['is a folder', 'PRD.md', shell('rm PRD.md; mkdir PRD.md; touch PRD.md/list')],
    ['has another text', 'PRD.md', shell('echo see the wiki > PRD.md')],
    ['has an odd name', '-my list’s $x.md', shell('rm ./-*; mkfifo "./-my list’s \\$x.md"')],
    ['lies behind a link', 'docs/PRD.md', shell('rm -r docs; mkdir ../else; ln -s ../else docs')],
    ['has lost its folder', 'docs/PRD.md', shell('rm -r docs')],
    ['has a file in the place of its folder', 'docs/PRD.md', shell('rm -r docs; touch docs')],
  ]
  it.each(cases)('works if the list %s, and changes no other file', (_, file, replaceList) => {
    const backup = backUp(file)
    fs.writeFileSync(precious(), 'precious')
    replaceList()
    restoreByHand(backup)
    expect(fs.lstatSync(path.join(project, file)).isFile()).toBe(true)
    expect(fs.readFileSync(path.join(project, file), 'utf8')).toBe(LIST)
    expect(fs.readFileSync(precious(), 'utf8')).toBe('precious')
    expect(fs.existsSync(path.join(root, 'else/PRD.md'))).toBe(false)
  })

  it('moves the agent’s file to a free name, each time', () => {
    const backup = backUp('PRD.md')
    for (const text of ['first', 'second']) {
      fs.writeFileSync(path.join(project, 'PRD.md'), text)
      restoreByHand(backup)
    }
    const read = (name: string): string => fs.readFileSync(path.join(project, name), 'utf8')
    expect(['PRD.md.agent', 'PRD.md.agent2', 'PRD.md'].map(read)).toEqual(['first', 'second', LIST])
  })

  it('restores the list of a kept copy, although the loop has seen another list since', () => {
    const backup = backUp('PRD.md')
    backup.keep('before-1')
    fs.writeFileSync(path.join(project, 'PRD.md'), '- [ ] one\n')
    backup.save(project)
    backup.keep('before-1')
    restoreByHand(backup, 'before-1')
    expect(fs.readFileSync(path.join(project, 'PRD.md'), 'utf8')).toBe(LIST)
    expect(backup.restoreCommand(project, 'before-2')).toBe(null)
  })
})

it('a list without tasks is overwritten with the copy, and its text is backed up', () => {
  const backup = backUp('PRD.md')
  fs.writeFileSync(path.join(project, 'PRD.md'), 'see the wiki\n')
  const replaced = backup.overwrite(project)
  expect(fs.readFileSync(replaced ?? '', 'utf8')).toBe('see the wiki\n')
  expect(fs.readFileSync(path.join(project, 'PRD.md'), 'utf8')).toBe(LIST)
})
