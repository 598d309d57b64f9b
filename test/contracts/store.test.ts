import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import type { Store } from '../../src/ports/store.ts'
import { Disk } from '../../src/testkit/memory/disk.ts'
import { MemoryStore } from '../../src/testkit/memory/memory-store.ts'
import { openStore } from '../../src/world/store/sqlite-store.ts'
import { promisesOfStore } from './store-contract.ts'

promisesOfStore('in memory', () => {
  const disk = new Disk()
  return { open: () => new MemoryStore(disk), close: () => undefined }
})

promisesOfStore('on SQLite', () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'os-store-'))
  const stores: Store[] = []
  return {
    open: () => {
      const store = openStore(path.join(folder, 'oneshot.db'))
      stores.push(store)
      return store
    },
    close: () => {
      for (const store of stores) closeOnce(store)
      fs.rmSync(folder, { recursive: true })
    },
  }
})

function closeOnce(store: Store): void {
  try {
    store.close()
  } catch {
    // The test has closed it.
  }
}
