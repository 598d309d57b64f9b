import fs from 'node:fs'
import path from 'node:path'
import type { Check } from '../../ports/checks.ts'
import { foldersToTop } from '../os/project-top.ts'
import { which } from '../os/which.ts'
import { cargo, go, make } from './by-one-file.ts'
import { node } from './node.ts'
import { python } from './python.ts'
import type { Finding, Site } from './site.ts'

/** In the order in which they are preferred. */
const WAYS: readonly ((site: Site) => Finding | null)[] = [node, python, cargo, go, make]

/**
 * How the project that this folder belongs to is tested: the nearest folder that has something for it counts, from here to
 * the top of the repository. Of several ways in one folder it is the first whose program is installed.
 */
export function detect(cwd: string, env: { readonly PATH?: string | undefined }): Check | null {
  const folders = foldersToTop(realFolder(cwd))
  const top = folders.at(-1) ?? cwd
  for (const folder of folders) {
    const site = { folder, top, has: (program: string) => which(program, env, folder) !== undefined }
    const found = WAYS.map(way => way(site)).filter(finding => finding !== null)
    const best = found.find(({ program }) => site.has(program)) ?? found[0]
    if (best !== undefined) return checkOf(best, site.has(best.program), path.relative(folders[0] ?? cwd, folder))
  }
  return null
}

function checkOf({ line, why, program }: Finding, isInstalled: boolean, way: string): Check {
  return {
    line: way === '' ? line : `cd ${way} && ${line}`, // Made of nothing but dots and slashes.
    why: isInstalled ? why : `${why}, but ${program} is not on PATH`,
  }
}

function realFolder(cwd: string): string {
  try {
    return fs.realpathSync(cwd)
  } catch {
    return cwd // It is gone: nothing will be found in it.
  }
}
