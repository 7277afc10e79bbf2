#!/bin/sh
# A whole improvement, offline and without a model: threads are recorded, tasks are sealed, then the
# workflow `improve` reflects, drafts, tries, decides and waits for you; this script approves.
#
#   sh examples/improve/run.sh            in a new folder, which it prints
#
# Interrupt it anywhere and call it again with that folder: it continues.
#
#   sh examples/improve/run.sh FOLDER
#
# A script drafts the edit. With AGENT=claude-code, or AGENT=builtin and a configured model, yours does.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
place=${1:-$(mktemp -d)}
echo "folder: $place"
export UWF_HOME="$place/home" TOPICS="${TOPICS:-26}"
agent="${AGENT:-drafter}"
mkdir -p "$place/project"
cd "$place/project"
if [ ! -f ready ]; then
  cp -R "$here/note.yaml" "$here/agent.sh" "$here/drafter.yaml" .
  rm -rf tasks && mkdir -p tasks/topics
  cp note.yaml agent.sh tasks/
  cases=""
  number=0
  while [ "$number" -lt "$TOPICS" ]; do
    mkdir -p "tasks/topics/$number" && echo "topic $number" > "tasks/topics/$number/topic.txt"
    cases="$cases{name: t$number, prompt: Note $number, fixture: topics/$number}, "
    number=$((number + 1))
  done
  cat > tasks/task.yaml << TASK
version: 1
name: notes
workflow: note.yaml
agent: sh agent.sh
cases: [$cases]
judges:
  - {name: at-once, builtin: expected-route, options: {route: [writer, reviewer]}}
TASK
  uwf config set agents.drafter "{\"use\": \"mock\", \"options\": {\"script\": \"$PWD/drafter.yaml\"}}"
  [ -f improve.yaml ] || uwf workflow new improve --from improve
  touch ready
fi
recorded=$(ls -d topic-*/done 2> /dev/null | wc -l)
while [ "$recorded" -lt 12 ]; do  # the history: twelve notes
  mkdir -p "topic-$recorded"
  echo "topic $((recorded * 7))" > "topic-$recorded/topic.txt"
  uwf run note.yaml -p "Note $recorded" --cwd "topic-$recorded" --agent "sh $PWD/agent.sh" > /dev/null
  touch "topic-$recorded/done"
  recorded=$((recorded + 1))
done
uwf improve list --format text | grep -q '^notes ' ||
  uwf improve seal notes tasks --format text --sealed 12 --repeat 1 --gain 5% --guard cost=50%
if [ ! -f thread ]; then
  uwf workflow add improve.yaml --allow-programs > /dev/null
  uwf thread start improve -p "Improve note" --input workflow=note.yaml --input set=notes \
    --input "agent=$agent" --format json | sed -n 's/.*"thread": *"\([^"]*\)".*/\1/p' > thread.new
  mv thread.new thread
fi
thread=$(cat thread)
state() { uwf thread show "$thread" --format json | sed -n "s/^  \"$1\": *\"*\([^\",]*\).*/\1/p"; }
while [ "$(state done)" = false ]; do
  if [ "$(state suspendReason)" = role ]; then # the approver; you would read the report first
    uwf thread resume "$thread" --status approved --until-done --format text
  else
    uwf thread exec "$thread" --until-done --no-input --format text || [ $? = 3 ]
  fi
done
grep -n "source of each number" note.yaml
echo "improved: $place/project/note.yaml"
