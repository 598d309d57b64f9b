import crypto from 'node:crypto'
import { invariant } from '../../src/lib/errors.ts'

/** The files of a working tree or of a commit: content by path. */
export type Files = ReadonlyMap<string, string>

interface Commit {
  readonly id: string
  readonly files: Files
  readonly parents: readonly string[]
  readonly message: string
}

/** A working tree. `mergeHead`: the commit of an unfinished merge. */
export interface Checkout {
  branch: string
  files: Map<string, string>
  mergeHead: string | null
}

/**
 * A repository in memory with commits, refs and working trees. It merges whole files and not lines. The same content,
 * message and parents always make the same commit.
 */
export class InMemoryGit {
  readonly refs = new Map<string, string>()
  /** Working trees by the path of their top. */
  readonly checkouts = new Map<string, Checkout>()
  readonly #commits = new Map<string, Commit>()
  readonly #trees = new Map<string, Files>()
  readonly #blobs = new Map<string, string>()

  /** Creates a repository with a first commit on `main`. */
  static withFiles(top: string, files: Readonly<Record<string, string>>): InMemoryGit {
    const git = new InMemoryGit()
    git.checkouts.set(top, { branch: 'main', files: new Map(Object.entries(files)), mergeHead: null })
    git.commit(top, 'first')
    return git
  }

  checkout(top: string): Checkout {
    const found = this.checkouts.get(top)
    invariant(found !== undefined, `there is no working tree at ${top}`)
    return found
  }

  head(top: string): string | null {
    return this.refs.get(`refs/heads/${this.checkout(top).branch}`) ?? null
  }

  /** Commits all files of a working tree, as an agent does with `git add . && git commit`. */
  commit(top: string, message: string): string {
    const { branch, files } = this.checkout(top)
    const head = this.head(top)
    const id = this.createCommit(files, head === null ? [] : [head], message)
    this.refs.set(`refs/heads/${branch}`, id)
    return id
  }

  createCommit(files: Files, parents: readonly string[], message: string): string {
    const id = hash(['commit', this.writeTree(files), ...parents, message].join('\0'))
    this.#commits.set(id, { id, files: new Map(files), parents, message })
    return id
  }

  writeTree(files: Files): string {
    const entries = [...files].toSorted(([one], [other]) => (one < other ? -1 : 1))
    const id = hash(`tree\0${entries.map(([file, text]) => `${file}\0${this.entry(text)}`).join('\0')}`)
    this.#trees.set(id, new Map(entries))
    return id
  }

  /** Stores a text and returns its entry in a tree: `MODE HASH`. */
  entry(text: string): string {
    const id = hash(`blob\0${text}`)
    this.#blobs.set(id, text)
    return `100644 ${id}`
  }

  blob(id: string): string | undefined {
    return this.#blobs.get(id)
  }

  /** Resolves a tree, a commit, a branch or a full ref to its files; null if there is none. */
  filesOf(name: string): Files | null {
    const plain = name.replace(/\^\{tree\}$/, '')
    return this.#trees.get(plain) ?? this.findCommit(plain)?.files ?? null
  }

  findCommit(name: string): Commit | undefined {
    return this.#commits.get(this.refs.get(name) ?? this.refs.get(`refs/heads/${name}`) ?? name)
  }

  /** Returns a commit and all its ancestors, newest first. */
  ancestry(from: string | null): Commit[] {
    const found = new Map<string, Commit>()
    const waiting = from === null ? [] : [from]
    for (let id = waiting.shift(); id !== undefined; id = waiting.shift()) {
      const commit = this.findCommit(id)
      if (commit === undefined || found.has(commit.id)) continue
      found.set(commit.id, commit)
      waiting.push(...commit.parents)
    }
    return [...found.values()]
  }

  contains(whole: string | null, part: string): boolean {
    const { id } = this.findCommit(part) ?? { id: part }
    return this.ancestry(whole).some(commit => commit.id === id)
  }

  mergeBase(one: string, other: string): string | null {
    const known = new Set(this.ancestry(one).map(({ id }) => id))
    return this.ancestry(other).find(({ id }) => known.has(id))?.id ?? null
  }

  /** Merges the files of two commits; a file that both changed differently is in conflict. */
  mergeFiles(ours: string, theirs: string): { files: Map<string, string>; conflicts: string[] } {
    const base = this.filesOf(this.mergeBase(ours, theirs) ?? '') ?? new Map<string, string>()
    const [one, other] = [this.filesOf(ours) ?? new Map<string, string>(), this.filesOf(theirs) ?? new Map()]
    const files = new Map(one)
    const conflicts: string[] = []
    for (const file of new Set([...one.keys(), ...other.keys(), ...base.keys()])) {
      const [before, mine, yours] = [base.get(file), one.get(file), other.get(file)]
      if (mine === yours || yours === before) continue
      if (mine !== before) {
        conflicts.push(file)
        files.set(file, `<<<<<<< ours\n${mine ?? ''}=======\n${yours ?? ''}>>>>>>> theirs\n`)
      } else if (yours === undefined) files.delete(file)
      else files.set(file, yours)
    }
    return { files, conflicts: conflicts.toSorted() }
  }
}

function hash(text: string): string {
  return crypto.createHash('sha1').update(text).digest('hex')
}
