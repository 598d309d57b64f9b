import fs from 'node:fs'
import path from 'node:path'
import type { Issue } from '../../src/core/session/tasks-and-tracker-issues.ts'

/** The fake `bd`. */
const FAKE_BD = path.join(import.meta.dirname, 'fake-bd.cjs')

/** Installs the fake `bd` into a folder for PATH. Returns the folder. */
export function installFakeBd(folder: string): string {
  const bin = path.join(folder, 'beads-bin')
  fs.mkdirSync(bin, { recursive: true })
  fs.copyFileSync(FAKE_BD, path.join(bin, 'bd')) // copyFile keeps the mode.
  fs.symlinkSync(process.execPath, path.join(bin, 'node'))
  return bin
}

/** A project's `.beads` for the fake `bd`. Tests create and read it directly. */
export class BeadsProject {
  readonly #folder: string

  constructor(project: string) {
    this.#folder = path.join(project, '.beads')
    fs.mkdirSync(this.#folder, { recursive: true })
  }

  create(title: string): string {
    const issues = this.#issues()
    const id = `bd-a${issues.length + 1}`
    this.#write([...issues, { id, title, status: 'open' }])
    return id
  }

  set(id: string, state: Issue['state']): void {
    const status = { open: 'open', doing: 'in_progress', done: 'closed' }[state]
    this.#write(this.#issues().map(issue => (issue.id === id ? { ...issue, status } : issue)))
  }

  status(id: string): string | undefined {
    return this.#issues().find(issue => issue.id === id)?.status
  }

  /** Sets the behaviour from now on. */
  setBehavior(...modes: string[]): void {
    fs.writeFileSync(path.join(this.#folder, 'manners'), modes.join(' '))
  }

  /** Lets waiting commands continue. */
  release(): void {
    fs.writeFileSync(path.join(this.#folder, 'go'), '')
  }

  /** Returns all commands so far, with their arguments. */
  calls(): string[][] {
    return this.lines('calls').map(line => JSON.parse(line) as string[])
  }

  /** Returns the lines of one of its files. */
  lines(name: string): string[] {
    const file = path.join(this.#folder, name)
    return fs.existsSync(file) ? fs.readFileSync(file, 'utf8').trimEnd().split('\n').filter(Boolean) : []
  }

  put(name: string, text = ''): void {
    fs.writeFileSync(path.join(this.#folder, name), text)
  }

  #issues(): { id: string; title: string; status: string }[] {
    return JSON.parse(this.lines('stand-in.json')[0] ?? '[]') as { id: string; title: string; status: string }[]
  }

  #write(issues: readonly object[]): void {
    this.put('stand-in.json', JSON.stringify(issues))
  }
}
