import fs from 'node:fs'
import path from 'node:path'

/**
 * The folder that holds the `.beads` this folder belongs to: its own, or that of a folder above it within the same
 * repository. Outside of one only its own: what lies in a home folder is nobody's project.
 */
export function findBeads(cwd: string): string | null {
  const folders = upTo(cwd, folder => fs.existsSync(path.join(folder, '.git')))
  return (folders ?? [cwd]).find(folder => isFolder(path.join(folder, '.beads'))) ?? null
}

/** This folder and those above it, up to one that is the last; undefined when none is. */
function upTo(folder: string, isLast: (folder: string) => boolean): string[] | undefined {
  const passed = [folder]
  for (let place = folder; !isLast(place); passed.push(place)) {
    if (place === path.dirname(place)) return undefined
    place = path.dirname(place)
  }
  return passed
}

function isFolder(file: string): boolean {
  return fs.statSync(file, { throwIfNoEntry: false })?.isDirectory() === true
}
