# A scripted agent: it plays both roles without a model. As a writer it names a source if its prompt
# asks for one, and in one of ten topics by itself.
role=""
for word in "$@"; do
  if [ "$before" = "--role" ]; then role=$word; fi
  before=$word
done
if [ "$role" = reviewer ]; then
  if grep -q Source note.txt; then
    echo '{"output": {"$status": "approved"}, "usage": {"costUsd": 0.02}}'
  else
    comments="The note lacks the source of each number."
    echo '{"output": {"$status": "rejected", "comments": "'"$comments"'"}, "usage": {"costUsd": 0.02}}'
  fi
  exit
fi
topic=$(tr -dc 0-9 < topic.txt)
echo "A note about topic $topic: 42." > note.txt
if grep -q "source of each number" "$UWF_REQUEST" || [ $((topic % 10)) -lt 1 ]; then
  echo "Source: the almanac." >> note.txt
fi
sleep "${NOTE_DELAY:-0}"
echo '{"output": {"$status": "written", "summary": "It has one number."}, "usage": {"costUsd": 0.03}}'
