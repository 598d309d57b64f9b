import { markChecklist, readChecklist } from '../../core/loop/list/checklist.ts'
import type { ItemMark, TaskList } from '../../core/loop/list/task-list.ts'
import { decodeLossless, encodeLossless } from '../../lib/text/lossless-utf8.ts'
import { Trouble, hasCode } from '../../lib/errors.ts'
import type { TaskSource } from '../../ports/task-source.ts'
import { readRegularFile, rewriteDurably } from '../../os/files/file-io.ts'
import { resolveInProject } from '../../os/files/resolve-in-project.ts'
import { markYaml, readYaml } from './yaml-tasks.ts'
import fs from 'node:fs'
import path from 'node:path'

/** Bytes. A list for people has a thousandth of this; a longer file is something else. */
export const MAX_LIST_SIZE = 16 * 1_048_576

const BOM = '\ufeff'

interface Format {
  readonly read: (text: string) => TaskList
  readonly mark: (text: string, marks: readonly ItemMark[]) => string
  /** Tells the user what a file without tasks lacks. */
  readonly emptyMessage: string
}

const FORMATS: Readonly<Record<'markdown' | 'yaml', Format>> = {
  markdown: {
    read: readChecklist,
    mark: markChecklist,
    emptyMessage: 'has no boxes: write each task as a line “- [ ] what is to be done”',
  },
  yaml: {
    read: readYaml,
    mark: markYaml,
    emptyMessage: 'has no tasks: write each as “- title: what is to be done”, under “tasks:” or at the top',
  },
}

/** Creates a task source for a file, relative to the folder in which it is read. */
export function fileTaskSource(kind: 'markdown' | 'yaml', file: string): TaskSource {
  const format = FORMATS[kind]
  return {
    kind,
    file,
    exists: cwd => fs.existsSync(path.join(cwd, file)),
    readText: cwd =>
      withTrouble(`reading ${file}`, () =>
        fs.existsSync(path.join(cwd, file)) ? readListContent(cwd, file).toString() : '',
      ),
    read: async cwd =>
      withTrouble(`reading ${file}`, () => {
        const { items, objections } = format.read(decodeText(readListContent(cwd, file)))
        return items.length > 0
          ? { items, objections }
          : { items, objections: [`${file} ${format.emptyMessage}`, ...objections] }
      }),
    mark: async (cwd, marks) =>
      withTrouble(`marking tasks in ${file}`, () =>
        rewriteDurably(resolveInProject(cwd, file), MAX_LIST_SIZE, content => {
          const text = decodeLossless(content)
          const marked = format.mark(decodeText(content), marks)
          return encodeLossless(text.startsWith(BOM) ? BOM + marked : marked)
        }),
      ),
  }
}

/** Removes the byte order mark that some editors write. */
function decodeText(content: Buffer): string {
  const text = decodeLossless(content)
  return text.startsWith(BOM) ? text.slice(1) : text
}

/** Returns the bytes of a list. Refuses a link that leads out of the project, a pipe, a device and a very long file. */
export function readListContent(cwd: string, file: string): Buffer {
  return readRegularFile(resolveInProject(cwd, file), MAX_LIST_SIZE).content
}

function withTrouble<T>(doing: string, action: () => T): T {
  try {
    return action()
  } catch (cause) {
    if (hasCode(cause, 'ENOENT', 'ENOTDIR'))
      throw new Trouble(doing, 'the file does not exist', { mayHelpToRetry: false })
    throw new Trouble(doing, hasCode(cause, 'EACCES', 'EPERM') ? 'you may not do that' : cause)
  }
}
