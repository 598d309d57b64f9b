import { expect, test } from 'vitest'
import { wrapTrouble } from './journal.ts'

test.each(['ENOSPC: no space left on device, write', 'fatal: sha1 file write error: No space left on device'])(
  'trouble on a full disk says what to do: %s',
  async text => {
    const failing = wrapTrouble('looking at /project', () => Promise.reject(new Error(text)))
    await expect(failing).rejects.toThrow('looking at /project: the disk is full: free some space, then oneshot resume')
  },
)
