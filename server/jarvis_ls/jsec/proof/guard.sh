# Runs $BENCH/script in a session of its own and ends all of it once its processes have taken
# $LIMIT hundredths of a CPU second together. At the end "cost N done" or "cost N over" is printed.
ticks=$(getconf CLK_TCK 2>/dev/null || echo 100)
cores=$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
pipe=$(mktemp -u) && mkfifo "$pipe" && exec 8<>"$pipe" && rm -f "$pipe" || exit 1

# Calls $1 for every process of the session, with its number and what /proc says behind its name.
each() {
    local file line
    for file in /proc/[0-9]*/stat; do
        read -r line <"$file" || continue
        set -- "$1" "${file//[^0-9]/}" ${line##*) }
        [ "$6" = "$script" ] && "$@"
    done
}
add() { taken=$((taken + ${13} + ${14} + ${15} + ${16})); }
end() { kill -KILL "$1" && alive=1; }

{
    echo 'trap "echo >&8" EXIT'
    cat "$BENCH/script"
} >"$BENCH/run" || exit 1
exec 9>&2 2>/dev/null
setsid bash "$BENCH/run" 2>&9 9>&- &
script=$! said= result=done
while kill -0 "$script"; do
    taken=0
    each add
    taken=$((100 * taken / ticks))
    left=$((LIMIT - taken))
    if [ "$left" -le 0 ]; then
        result=over alive=1
        for round in 1 2 3 4 5 6 7 8 9; do
            [ -z "$alive" ] || { alive= && each end; }
        done
        break
    fi
    # It cannot be spent before all processors have worked on it for so long.
    pause=$((left / cores)) most=200
    [ -z "$said" ] || most=3
    [ "$pause" -le "$most" ] || pause=$most
    [ "$pause" -ge 3 ] || pause=3
    printf -v pause '%d.%02d' $((pause / 100)) $((pause % 100))
    read -r -t "$pause" -u 8 && said=1
done
wait "$script"
if [ "$result" = "done" ]; then
    file=$(mktemp) && times >"$file"
    { read -r _; read -r user system; } <"$file"
    taken=0
    for time in "$user" "$system"; do
        seconds=${time#*m} && seconds=${seconds%s}
        taken=$((taken + 6000 * ${time%m*} + 100 * ${seconds%.*} + 10#${seconds#*.} / 10))
    done
fi
printf '\n\036cost %d %s\n' "$taken" "$result"
