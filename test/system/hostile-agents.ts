/**
 * Agents that undo the work of others, leave work half done, or work in the wrong place; see `installScriptedAgent`.
 */
export const HOSTILE_BEHAVIORS = String.raw`
  resethard) git reset -q --hard "$(git rev-list --max-parents=0 HEAD)" ;;
  dropprev) git reset -q --hard HEAD~1; work ;;
  revertprev) git -c user.name=a -c user.email=a@b revert --no-edit HEAD >/dev/null ;;
  removes) git rm -q a.txt; git -c user.name=a -c user.email=a@b commit -qm 'remove it'; work ;;
  rmonly) rm a.txt ;;
  oldversion) git checkout -q "$(git rev-list --max-parents=0 HEAD)" -- text.txt; git -c user.name=a -c user.email=a@b commit -qm old; work ;;
  rewrites) echo "$file" >> text.txt; git -c user.name=a -c user.email=a@b commit -qam "change text for $file" ;;
  edits) echo more >> a.txt; git -c user.name=a -c user.email=a@b commit -qam 'edit it' ;;
  renames) mkdir -p "$file"; git mv a.txt "$file/moved.txt"; git -c user.name=a -c user.email=a@b commit -qm 'move it' ;;
  squashes) git reset -q --soft HEAD~1; work; git -c user.name=a -c user.email=a@b commit -qam squash ;;
  midmerge) git checkout -q -b side; echo side > text.txt; git -c user.name=a -c user.email=a@b commit -qam side
    git checkout -q -; echo main > text.txt; git -c user.name=a -c user.email=a@b commit -qam main
    git merge -q side >/dev/null 2>&1 ;;
  aborts) git merge --abort; work ;;
  markers) printf '<<<<<<< HEAD\none\n=======\ntwo\n>>>>>>> side\n' > "$file"; git add "$file"
    git -c user.name=a -c user.email=a@b commit -qm markers ;;
  overwrites) echo fine > "$file"; git -c user.name=a -c user.email=a@b commit -qam 'no markers' ;;
  underlines) printf 'Title\n=======\n\ntext\n' > "$file"; git add "$file"; git -c user.name=a -c user.email=a@b commit -qm underline ;;
  halfmarkers) printf 'one\n=======\ntwo\n>>>>>>> side\n' > "$file"; git add "$file"
    git -c user.name=a -c user.email=a@b commit -qm markers ;;
  nests) mkdir nested; cd nested; git init -q; work; cd ..; git add nested 2>/dev/null
    git -c user.name=a -c user.email=a@b commit -qm nested ;;
  erases) git reset -q --hard "$(git rev-list --max-parents=0 HEAD)"
    for ref in $(git for-each-ref --format='%(refname)' refs/oneshot refs/oneshot-loop); do git update-ref -d "$ref"; done
    git reflog expire --expire=now --all; git gc -q --prune=now ;;
  waits) until [ -e "$GATE.$file" ]; do sleep 0.02; done ;;
  chmods) chmod +x text.txt ;;
  empties) git -c user.name=a -c user.email=a@b commit -q --allow-empty -m nothing ;;
  ignored) echo x > ignored.log ;;
  pulls) git merge -q --ff-only other ;;
  merges) git -c user.name=a -c user.email=a@b merge -q --no-ff --no-edit another >/dev/null ;;
  takes) git merge -q --squash third; git -c user.name=a -c user.email=a@b commit -qm 'my work' ;;
  uncommits) git reset -q --soft HEAD~1; work ;;
  picks) echo mine > text.txt; git -c user.name=a -c user.email=a@b commit -qam mine
    git -c user.name=a -c user.email=a@b cherry-pick side >/dev/null 2>&1 ;;
  midrebase) git checkout -q -b rebased HEAD~1; echo rebased > text.txt
    git -c user.name=a -c user.email=a@b commit -qam rebased; git -c user.name=a -c user.email=a@b rebase -q main >/dev/null 2>&1 ;;
  branches) git checkout -q -b elsewhere; work ;;
  detaches) git checkout -q --detach; work ;;
  goesback) git checkout -q -b old "$(git rev-list --max-parents=0 HEAD)"; work ;;
  stays) git checkout -q -b dirty "$(git rev-list --max-parents=0 HEAD)"; echo mine > a.txt; echo mine > b.txt ;;
  rmgit) rm -rf .git ;;
  pcommitmain) cd "$(git rev-parse --git-common-dir)/.."; work ;;
  beside) git worktree add -q "../beside-$file"; cd "../beside-$file"; work ;;
  locks) echo "$file" > "$file"; : > .git/index.lock ;;
  pdeletesmain) work; cd "$(git rev-parse --git-common-dir)/.."; git checkout -q --detach; git branch -q -D main ;;
  plocksown) work; git worktree lock . ;;
  pmovemain) work; git update-ref refs/heads/main HEAD ;;
  pwipemain) work; cd "$(git rev-parse --git-common-dir)/.."; git reset -q --hard; git clean -fdq ;;
  pbranchdel) work; for ref in $(git for-each-ref --format='%(refname)' refs/heads/oneshot); do git update-ref -d "$ref"; done ;;
  prmsiblings) work; rm -rf ../all ;;
  prmfiles) until [ -e "$GATE.$file" ]; do sleep 0.02; done; work; cd "$(git rev-parse --git-common-dir)/.."; rm -rf PRD.md src ;;
  manylines) until [ -e "$GATE.$file" ]; do sleep 0.02; done; seq 1 40 > "$file"; git add "$file"; git -c user.name=a -c user.email=a@b commit -qm "make $file" ;;
  thins) until [ -e "$GATE.$file" ]; do sleep 0.02; done
    git merge -q "$(git -C ../all rev-parse HEAD)"; seq 1 3 > a.txt
    git -c user.name=a -c user.email=a@b commit -qam thin; work ;;
  copies) until git -C ../all cat-file -e HEAD:a.txt 2>/dev/null; do sleep 0.05; done
    git -C ../all show HEAD:a.txt > a.txt; git add a.txt; git -c user.name=a -c user.email=a@b commit -qm 'my work' ;;
  prmlink) work; rm .git ;;
  prmentries) work; rm -rf "$(git rev-parse --git-common-dir)/worktrees" ;;
  plocks) work; git worktree lock ../all; rm -rf ../all ;;
  premoves) work; git rm -q a.txt; git -c user.name=a -c user.email=a@b commit -qm 'remove it' ;;
  oddbranch) git checkout -q -b 'x;touch$IFS"pwned"' "$(git rev-list --max-parents=0 HEAD)"; work ;;
  pipes) work; rm .git/logs/HEAD; mkfifo .git/logs/HEAD; rm -f "$GIT_TRACE2_EVENT"; mkfifo "$GIT_TRACE2_EVENT" ;;
  bare) work; git config core.bare true ;;
  symref) git symbolic-ref HEAD refs/heads/other ;;
  pbare) work; git config core.bare true ;;
  prmdeep) work; cd "$(git rev-parse --git-common-dir)/.."; rm src/lib/one.txt; rm -r src/lib/deep ;;
  psymref) work; cd "$(git rev-parse --git-common-dir)/.."; git symbolic-ref HEAD refs/heads/other ;;
  prestores) git -c user.name=a -c user.email=a@b revert --no-edit HEAD >/dev/null ;;
`
