import { evidenceOf, type Evidence, type FileChange, type Sighting } from '../../core/loop/evidence.ts'
import type { Loop, LoopTask, Undone } from '../../core/loop/loop.ts'
import { type Dropped, isTakenAway, type Loss, lossOf, lostPaths, madeOf } from '../../core/loop/losses.ts'
import { needsTree, type Span, spanOf } from '../../core/loop/losses.ts'
import { rawPath } from '../../lib/raw-path.ts'
import type { Workshop } from '../../ports/workshop.ts'
import { thinnedIn } from './thinned-in.ts'
import { uncommittedIn } from './uncommitted-in.ts'
import type { Work } from './work.ts'

/** What was found to be lost, and the paths that show it. */
export interface Audited {
  readonly losses: readonly Loss[]
  readonly paths: ReadonlySet<string>
  /** Files of finished work that have lost most of their lines or their commit, one sentence each. */
  readonly thinned: readonly string[]
}

/** What is held against finished work. */
interface Compared {
  readonly changes: readonly (FileChange & { readonly removed?: number })[]
  readonly pair: readonly [from: string, to: string]
  /** The working tree that has the newer of both, and its branch; absent: the loop's own checkout. */
  readonly at?: { readonly cwd: string; readonly branch: string } | undefined
  /** Files that later tasks have changed: fewer lines in them tell nothing. */
  readonly later?: ReadonlySet<string>
}

const NOTHING: Audited = { losses: [], paths: new Set(), thinned: [] }

/**
 * Notices when finished work is not there any more. The files of each finished task are asked for once and then remembered, and from one
 * look to the next only what has changed in between is held against them.
 */
export class Audit {
  readonly #workshop: Workshop
  readonly #cwd: string
  readonly #id: string
  readonly #isTop: boolean
  readonly #apart: readonly string[]
  readonly #known = new Map<string, readonly FileChange[]>()
  #last: string | null = null

  /** `inner`: the loop's folder within its checkout. `apart`: the list's own files, from the top of the checkout. */
  constructor(given: { workshop: Workshop; cwd: string; id: string; inner: string; apart: readonly string[] }) {
    this.#workshop = given.workshop
    this.#cwd = given.cwd
    this.#id = given.id
    this.#isTop = given.inner === ''
    this.#apart = given.apart.map(file => rawPath(Buffer.from(file)))
  }

  /** All finished work, against all that a tree has. */
  async whole(loop: Loop, tree: string): Promise<Audited> {
    this.#last = tree
    const works = await this.#worksOf(loop, { withYours: false })
    if (works.length === 0) return NOTHING
    const present = await this.#workshop.files(this.#cwd, tree)
    const found: Audited[] = []
    for (const work of works) {
      const changes = work.files.map(({ path, after }) => ({ path, before: after, after: present.get(path) ?? null }))
      found.push(
        await this.#audit([work], { changes, pair: [work.span.now.tree, tree], later: laterThan(work, works) }),
      )
    }
    return {
      losses: found.flatMap(({ losses }) => losses),
      paths: new Set(found.flatMap(({ paths }) => [...paths])),
      thinned: found.flatMap(({ thinned }) => thinned),
    }
  }

  /** What was taken away since the last look. */
  async since(loop: Loop, tree: string): Promise<Audited> {
    const last = this.#last
    this.#last = tree
    if (last === null || last === tree) return NOTHING
    const [changes] = await this.#workshop.changes(this.#cwd, [[last, tree]])
    return changes ? this.ofChanges(loop, { changes, pair: [last, tree] }) : NOTHING
  }

  /** What an iteration took away. The evidence is that of the other things it did. */
  async ofIteration(
    loop: Loop,
    { since, seen, at }: { since: Span['since']; seen: Sighting; at: Compared['at'] },
  ): Promise<Audited & { evidence: Evidence }> {
    if (loop.branch === null) this.#last = seen.now.tree
    const audited = await this.ofChanges(loop, { changes: seen.changed, pair: [since.tree, seen.now.tree], at })
    const own = seen.changed.filter(({ path, isOwn }) => isOwn && !audited.paths.has(path))
    this.#known.set(
      nameOf({ since, now: seen.now }),
      own.map(({ path, before, after }) => ({ path, before, after })),
    )
    const uncommitted = loop.branch === null ? await this.#uncommitted(loop, since, seen) : []
    return { ...audited, thinned: [...audited.thinned, ...uncommitted], evidence: evidenceOf(seen, own) }
  }

  async #uncommitted(loop: Loop, since: Span['since'], seen: Sighting): Promise<readonly string[]> {
    if (seen.now.head === since.head || seen.loose.size === 0) return []
    const droppedOf = async (commits: readonly string[]): Promise<readonly string[]> => {
      const now = await this.#workshop.dropped(this.#cwd, commits)
      const before = now.length === 0 ? [] : await this.#workshop.dropped(this.#cwd, now, since.head ?? undefined)
      return now.filter(id => !before.includes(id))
    }
    return uncommittedIn(await this.#worksOf(loop, { withYours: false }), seen, { isTop: this.#isTop, droppedOf })
  }

  async ofChanges(loop: Loop, compared: Compared): Promise<Audited> {
    if (compared.changes.length === 0) return NOTHING
    return this.#audit(await this.#worksOf(loop, { withYours: loop.branch === null }), compared)
  }

  /** Whether work that was lost is there again. */
  async isBack({ stand, place, evidence }: Undone, kept: readonly FileChange[], tree: string): Promise<boolean> {
    if (stand.name !== 'done' || place === null) return false
    const span = { since: place.since, now: evidence.now }
    const [made] = await this.#filesOf([span])
    const files = withKept(made ?? [], kept)
    if (files.length === 0) return false
    const present = await this.#workshop.files(this.#cwd, tree)
    return files.every(({ path, before, after }) => {
      const now = present.get(path) ?? null
      return now === after || (now !== before && after !== null && !isTakenAway(after, now))
    })
  }

  /** What the user had not committed when the loop began, against all that a tree has. */
  async yours(loop: Loop, tree: string): Promise<Audited> {
    const files = await this.filesOfYours(loop)
    if (files.length === 0 || loop.yours === undefined) return NOTHING
    const present = await this.#workshop.files(this.#cwd, tree)
    const changes = files.map(({ path, after }) => ({ path, before: after, after: present.get(path) ?? null }))
    return this.#audit([{ task: null, span: loop.yours, files }], { changes, pair: [loop.yours.now.tree, tree] })
  }

  async filesOfYours(loop: Loop): Promise<readonly FileChange[]> {
    const works = await this.#worksOf(loop, { withYours: true })
    return works.find(({ task }) => task === null)?.files ?? []
  }

  async #audit(works: readonly Work[], compared: Compared): Promise<Audited> {
    const { changes, pair } = compared
    const suspected = works
      .map(work => ({ ...work, paths: lostPaths(work.files, changes) }))
      .filter(({ paths }) => paths.length > 0)
    const all = new Set(suspected.flatMap(({ paths }) => paths))
    const thinned = await thinnedIn(works, { ...compared, lost: all, isTop: this.#isTop }, hashes =>
      this.#workshop.texts(this.#cwd, hashes),
    )
    if (suspected.length === 0) return { ...NOTHING, thinned }
    const gone = changes.filter(({ path, before, after }) => all.has(path) && isTakenAway(before, after))
    const paths = gone.map(({ path }) => path)
    const moved = paths.length === 0 ? new Set() : await this.#workshop.moved(this.#cwd, pair, paths)
    const lost = suspected
      .map(work => ({ ...work, paths: work.paths.filter(path => !moved.has(path)) }))
      .filter(({ paths: left }) => left.length > 0)
    const losses = await Promise.all(lost.map(work => this.#describe(work, compared)))
    return { losses, paths: new Set(lost.flatMap(({ paths: left }) => left)), thinned }
  }

  async #describe(work: Work & { paths: readonly string[] }, compared: Compared): Promise<Loss> {
    const { task, span, files, paths } = work
    const cwd = compared.at?.cwd ?? this.#cwd
    return lossOf({
      task: task?.item.key ?? null,
      work: files,
      paths,
      span,
      dropped: await this.#droppedOf(work, compared, cwd),
      branch: compared.at?.branch ?? (await this.#workshop.head(cwd)).branch ?? 'HEAD',
      isTop: this.#isTop,
      tree: needsTree(files, paths) ? await this.#treeOf(files, paths) : null,
    })
  }

  /** A tree of the lost files alone: one command brings all of them back, however many they are and whatever they are called. */
  #treeOf(files: readonly FileChange[], paths: readonly string[]): Promise<string> {
    const made = new Set(madeOf(files, paths))
    const entries = files.flatMap(({ path, after }) =>
      after !== null && made.has(path) ? [{ path, entry: after }] : [],
    )
    return this.#workshop.keepFiles(this.#cwd, `${this.#id}/lost`, entries)
  }

  async #droppedOf({ task, files }: Work, { changes }: Compared, cwd: string): Promise<Dropped> {
    const evidence = task?.evidence ?? null
    const commits = evidence?.commits.map(({ id }) => id) ?? []
    if (evidence === null || commits.length === 0) return { ids: [], canBePicked: false }
    const ids = await this.#workshop.dropped(cwd, commits)
    const present = new Map(changes.map(({ path, after }) => [path, after]))
    const isAsBefore = files.every(({ path, before }) => present.get(path) === before)
    const isAll = ids.length === evidence.commitCount && evidence.uncommitted === 0
    return { ids, canBePicked: isAll && isAsBefore }
  }

  async #worksOf(loop: Loop, { withYours }: { withYours: boolean }): Promise<Work[]> {
    const spans: { task: LoopTask | null; span: Span }[] = loop.tasks.flatMap(task => {
      const span = spanOf(task)
      return span === null ? [] : [{ task, span }]
    })
    if (withYours && loop.yours !== undefined) spans.push({ task: null, span: loop.yours })
    const found = await this.#filesOf(spans.map(({ span }) => span))
    return spans.map(({ task, span }, n) => ({ task, span, files: withKept(found[n] ?? [], task?.kept ?? []) }))
  }

  /** What was changed within each of these spans. */
  async #filesOf(spans: readonly Span[]): Promise<(readonly FileChange[])[]> {
    const unknown = spans.filter(span => !this.#known.has(nameOf(span)))
    const found = await this.#workshop.changes(
      this.#cwd,
      unknown.map(({ since, now }) => [since.tree, now.tree] as const),
    )
    // What git has lost cannot be held against anything.
    for (const [n, span] of unknown.entries()) {
      const files = (found[n] ?? []).filter(({ path }) => !this.#isApart(path))
      this.#known.set(nameOf(span), files)
    }
    return spans.map(span => this.#known.get(nameOf(span)) ?? [])
  }

  #isApart(file: string): boolean {
    return this.#apart.some(one => file === one || file.startsWith(`${one}/`)) || file.split('/').includes('.agent')
  }
}

function withKept(made: readonly FileChange[], kept: readonly FileChange[]): readonly FileChange[] {
  const paths = new Set(made.map(({ path }) => path))
  return [...made, ...kept.filter(({ path }) => !paths.has(path))]
}

function nameOf({ since, now }: Span): string {
  return `${since.tree} ${now.tree}`
}

/** Paths that other tasks have changed after this one. */
function laterThan({ task }: Work, works: readonly Work[]): ReadonlySet<string> {
  const doneAt = (one: LoopTask | null): number => (one?.stand.name === 'done' ? one.stand.at : 0)
  const later = works.filter(other => other.task !== task && doneAt(other.task) >= doneAt(task))
  return new Set(later.flatMap(({ files }) => files.map(({ path }) => path)))
}
