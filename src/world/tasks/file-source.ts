import { markChecklist, readChecklist } from '../../core/loop/checklist.ts'
import type { ItemList, Mark } from '../../core/loop/item.ts'
import { decodeLossless, encodeLossless } from '../../lib/lossless-text.ts'
import { hasCode, Trouble } from '../../lib/trouble.ts'
import type { TaskSource } from '../../ports/task-source.ts'
import { readRegular, rewriteDurably } from '../os/files.ts'
import { insideProject } from '../os/project-top.ts'
import { markYaml, readYaml } from './yaml-tasks.ts'

/** A list for people is a thousandth of this; what is longer is something else. */
export const LONGEST_LIST = 16 * 1_048_576

const BOM = '\ufeff'

interface Format {
  readonly read: (text: string) => ItemList
  readonly mark: (text: string, marks: readonly Mark[]) => string
  /** What a file without a single task lacks. */
  readonly lacks: string
}

const FORMATS: Readonly<Record<'markdown' | 'yaml', Format>> = {
  markdown: {
    read: readChecklist,
    mark: markChecklist,
    lacks: 'has no boxes: write each task as a line “- [ ] what is to be done”',
  },
  yaml: {
    read: readYaml,
    mark: markYaml,
    lacks: 'has no tasks: write each as “- title: what is to be done”, under “tasks:” or at the top',
  },
}

/** A list that lies in a file, named from the folder it is read in. */
export function fileSource(kind: 'markdown' | 'yaml', file: string): TaskSource {
  const format = FORMATS[kind]
  return {
    kind,
    file,
    read: async cwd =>
      withTrouble(`reading ${file}`, () => {
        const { items, objections } = format.read(textOf(listContent(cwd, file)))
        return items.length > 0
          ? { items, objections }
          : { items, objections: [`${file} ${format.lacks}`, ...objections] }
      }),
    mark: async (cwd, marks) =>
      withTrouble(`marking tasks in ${file}`, () =>
        rewriteDurably(insideProject(cwd, file), LONGEST_LIST, content => {
          const text = decodeLossless(content)
          const marked = format.mark(textOf(content), marks)
          return encodeLossless(text.startsWith(BOM) ? BOM + marked : marked)
        }),
      ),
  }
}

/** Without the mark that some editors put at the beginning. */
function textOf(content: Buffer): string {
  const text = decodeLossless(content)
  return text.startsWith(BOM) ? text.slice(1) : text
}

/** The bytes of a list. A link that leads out of the project, a pipe, a device and a very long file are refused. */
export function listContent(cwd: string, file: string): Buffer {
  return readRegular(insideProject(cwd, file), LONGEST_LIST).content
}

function withTrouble<T>(doing: string, deed: () => T): T {
  try {
    return deed()
  } catch (cause) {
    if (hasCode(cause, 'ENOENT', 'ENOTDIR'))
      throw new Trouble(doing, 'the file does not exist', { mayHelpToRetry: false })
    throw new Trouble(doing, hasCode(cause, 'EACCES', 'EPERM') ? 'you may not do that' : cause)
  }
}
