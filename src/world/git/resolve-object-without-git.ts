import path from 'node:path'
import { readRegularFile } from '../../os/files/file-io.ts'
import type { RepositoryDirs } from './guard/config-overrides.ts'
import { readLooseObject } from './loose-objects.ts'

/** Bytes; a file of a ref has one line. */
const MAX_REF_SIZE = 4_096

/**
 * Returns the object of a name with `^{commit}` or `^{tree}`, without a git process. The name is the id of an object,
 * HEAD, or a whole ref. Returns null if only git can tell: the ref or an object is packed, symbolic, broken or missing.
 */
export function resolveFromFiles({ gitDir, commonDir }: RepositoryDirs, name: string): string | null {
  const [, start = '', type] = /^([\w./-]+)\^\{(commit|tree)\}$/.exec(name) ?? []
  const id = isObjectId(start) ? start : readRef({ gitDir, commonDir }, start)
  const object = id === null ? null : readLooseObject({ commonDir }, id)
  if (object === null || object.type === type) return object === null ? null : id
  if (object.type !== 'commit') return null
  const [, tree = ''] = /^tree ([0-9a-f]+)\n/.exec(object.content.subarray(0, 100).toString('latin1')) ?? []
  return readLooseObject({ commonDir }, tree)?.type === 'tree' ? tree : null
}

export function isObjectId(text: string): boolean {
  return /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(text)
}

function readRef({ gitDir, commonDir }: RepositoryDirs, name: string): string | null {
  const line = name === 'HEAD' ? readLine(path.join(gitDir, 'HEAD')) : `ref: ${name}`
  const [, ref = ''] = /^ref: (refs\/heads\/[\w./-]+)$/.exec(line) ?? []
  const text = ref === '' || ref.includes('..') ? line : readLine(path.join(commonDir, ref))
  return isObjectId(text) ? text : null
}

function readLine(file: string): string {
  try {
    return readRegularFile(file, MAX_REF_SIZE).content.toString('latin1').replace(/\n$/, '')
  } catch {
    return '' // The ref is packed or missing, or its file is a link.
  }
}
