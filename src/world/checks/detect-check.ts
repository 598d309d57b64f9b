import type { Check, Checks } from '../../ports/checks.ts'
import { runCheck } from './run-check.ts'
import fs from 'node:fs'
import path from 'node:path'
import { listFoldersToRoot } from '../../os/files/project-root.ts'
import { which } from '../../os/which.ts'
import {
  type DetectedCheck,
  type ProjectFolder,
  detectCargo,
  detectGo,
  detectMake,
  detectNode,
  detectPython,
} from './detectors.ts'

/** Detects checks by the usual test tools of projects. `env` gives the PATH of the programs. */
export function projectChecks(env: { readonly PATH?: string | undefined } = process.env): Checks {
  return { detect: cwd => detectCheck(cwd, env), run: runCheck }
}

/** In order of preference. */
const DETECTORS: readonly ((project: ProjectFolder) => DetectedCheck | null)[] = [
  detectNode,
  detectPython,
  detectCargo,
  detectGo,
  detectMake,
]

/**
 * Detects how to test the project of this folder: the nearest folder with a check counts, from here to the top of the
 * repository. If one folder has several checks, the first with an installed program counts.
 */
export function detectCheck(cwd: string, env: { readonly PATH?: string | undefined }): Check | null {
  const folders = listFoldersToRoot(realFolder(cwd))
  const top = folders.at(-1) ?? cwd
  for (const folder of folders) {
    const project = { folder, top, has: (program: string) => which(program, env, folder) !== undefined }
    const found = DETECTORS.map(way => way(project)).filter(check => check !== null)
    const best = found.find(({ program }) => project.has(program)) ?? found[0]
    if (best !== undefined) return toCheck(best, project.has(best.program), path.relative(folders[0] ?? cwd, folder))
  }
  return null
}

function toCheck({ line, why, program }: DetectedCheck, isInstalled: boolean, way: string): Check {
  return {
    line: way === '' ? line : `cd ${way} && ${line}`, // `way` consists only of dots and slashes.
    why: isInstalled ? why : `${why}, but ${program} is not on PATH`,
  }
}

function realFolder(cwd: string): string {
  try {
    return fs.realpathSync(cwd)
  } catch {
    return cwd // The folder is missing: the detectors find nothing in it.
  }
}
