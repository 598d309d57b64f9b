import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'

/** Files of a clone that are needed to build and run it. */
const CLONE = ['src', 'scripts', 'package.json', 'package-lock.json', 'oneshot']

/**
 * A clone of the product in a temporary folder, built there, so that edits and builds in the repository do not change
 * the measured program. Every process of the benchmark has the folder's path in its command or environment.
 */
export interface ProductClone {
  readonly root: string
  /** The bundled command line. */
  readonly main: string
  /** The program that users run in a clone. */
  readonly launcher: string
  /** A clean environment without NODE_EXTRA_CA_CERTS: Node 20 reads that file at every start, which takes 38 ms. */
  readonly env: NodeJS.ProcessEnv
}

export function cloneProduct(repository: string): ProductClone {
  const root = fs.mkdtempSync(path.join(os.tmpdir(), 'osb-'))
  const clone = path.join(root, 'clone')
  for (const name of CLONE) {
    fs.cpSync(path.join(repository, name), path.join(clone, name), { recursive: true, preserveTimestamps: true })
  }
  fs.symlinkSync(path.join(repository, 'node_modules'), path.join(clone, 'node_modules'))
  const env = cleanEnv(root)
  const built = spawnSync(process.execPath, [path.join(clone, 'scripts', 'build.mjs')], { env, encoding: 'utf8' })
  if (built.status !== 0) throw new Error(`the product cannot be built:\n${built.stderr}`)
  return { root, main: path.join(clone, 'dist', 'main.cjs'), launcher: path.join(clone, 'oneshot'), env }
}

function cleanEnv(root: string): NodeJS.ProcessEnv {
  const { PATH, LANG } = process.env
  fs.mkdirSync(path.join(root, 'user'))
  return { PATH, LANG: LANG ?? 'C.UTF-8', HOME: path.join(root, 'user'), ONESHOT_BENCH: root, NO_COLOR: '1' }
}
