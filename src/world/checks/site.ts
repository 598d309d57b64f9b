import fs from 'node:fs'
import path from 'node:path'
import { readPart } from '../os/files.ts'

/** A folder in which a check may be found. */
export interface Site {
  readonly folder: string
  /** Of the repository; the folder itself where there is none. */
  readonly top: string
  /** Whether a program is on PATH or, with a slash in its name, in the folder. */
  readonly has: (program: string) => boolean
}

export interface Finding {
  readonly line: string
  readonly why: string
  /** What the line cannot be run without. */
  readonly program: string
}

/** Nobody writes more than this into such a file by hand, in bytes. */
const LONGEST = 1_048_576

/** What a file of the site says; null when it is not there, or cannot be read. */
export function textOf({ folder }: Site, name: string): string | null {
  const file = path.join(folder, name)
  try {
    return fs.statSync(file).isFile() ? readPart(file, 0, LONGEST).toString() : null
  } catch {
    return null // Not there, or not ours to read: then it tells nothing.
  }
}

/** The names in a folder of the site; none when it is not there. */
export function namesIn({ folder }: Site, name: string): string[] {
  try {
    return fs.readdirSync(path.join(folder, name))
  } catch {
    return [] // Not there, or no folder.
  }
}
