// Rebuilds after each change in src: npm run dev. Try the result in another terminal with a separate state folder:
//   ONESHOT_HOME=$PWD/.dev ./oneshot status
// @ts-check
import { spawn } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { install, root } from './steps.mjs'

/** Editors write a file in several steps. */
const QUIET_MILLISECONDS = 100

install()
/** @type {NodeJS.Timeout | undefined} */
let timer
let isBuilding = false
let hasChanged = false

fs.watch(path.join(root, 'src'), { recursive: true }, () => {
  clearTimeout(timer)
  timer = setTimeout(build, QUIET_MILLISECONDS)
})
build()

function build() {
  hasChanged = isBuilding
  if (isBuilding) return
  isBuilding = true
  const start = Date.now()
  spawn(process.execPath, [path.join(root, 'scripts', 'build.mjs')], { stdio: 'inherit' }).once('close', code => {
    isBuilding = false
    console.log(code === 0 ? `built in ${((Date.now() - start) / 1000).toFixed(1)} s` : 'the build failed')
    if (hasChanged) build()
  })
}
