import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import type { Store } from '../../src/ports/store.ts'
import { InMemoryDisk } from '../../testkit/in-memory/disk.ts'
import { InMemoryStore } from '../../testkit/in-memory/store.ts'
import { openStore } from '../../src/world/store/sqlite-store.ts'
import { testStore } from './store-contract.ts'

testStore('in memory', () => {
  const disk = new InMemoryDisk()
  return { open: () => new InMemoryStore(disk), close: () => undefined }
})

testStore('on SQLite', () => {
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
