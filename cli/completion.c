/* completion: scripts for shells. They ask `streamrun completion words -- WORD...` (complete.h). */
#include <string.h>

#include "cli/commands.h"
#include "cli/complete.h"
#include "cli/show.h"

static const char completion_bash[] =
    "# Completion of streamrun for bash: eval \"$(streamrun completion bash)\"\n"
    "_streamrun() {\n"
    "    local line=\"${COMP_LINE:0:COMP_POINT}\" word value before\n"
    "    local -a words\n"
    "    read -ra words <<<\"$line\"\n"
    "    [[ $line == *[[:space:]] ]] && words+=(\"\")\n"
    "    word=\"${words[-1]}\"\n"
    "    value=\"${word##*[=]}\"\n"
    "    # bash puts back only what stands behind the last = or : of a word\n"
    "    before=\"${word%\"${word##*[=:]}\"}\"\n"
    "    COMPREPLY=()\n"
    "    while IFS= read -r line; do\n"
    "        case \"$line\" in\n"
    "        :files) compopt -o filenames; mapfile -t -O \"${#COMPREPLY[@]}\" COMPREPLY < "
    "<(compgen -f -- \"$value\") ;;\n"
    "        :dirs) compopt -o filenames; mapfile -t -O \"${#COMPREPLY[@]}\" COMPREPLY < <(compgen "
    "-d -- \"$value\") ;;\n"
    "        *[=.]) compopt -o nospace; COMPREPLY+=(\"${line#\"$before\"}\") ;;\n"
    "        *) COMPREPLY+=(\"${line#\"$before\"}\") ;;\n"
    "        esac\n"
    "    done < <(${BASH_ALIASES[$1]:-\"$1\"} completion words -- \"${words[@]:1}\" 2>/dev/null)\n"
    "}\n"
    "complete -F _streamrun streamrun\n";

static const char completion_zsh[] =
    "#compdef streamrun\n"
    "# Completion of streamrun for zsh: eval \"$(streamrun completion zsh)\"\n"
    "_streamrun() {\n"
    "    local line\n"
    "    for line in \"${(@f)$(${=aliases[$words[1]]:-$words[1]} completion words -- "
    "\"${(@)words[2,CURRENT]}\" 2>/dev/null)}\"; do\n"
    "        case \"$line\" in\n"
    "        '') ;;\n"
    "        :files) compset -P '*='; _files ;;\n"
    "        :dirs) compset -P '*='; _files -/ ;;\n"
    "        *[=.]) compadd -S '' -- \"$line\" ;;\n"
    "        *) compadd -- \"$line\" ;;\n"
    "        esac\n"
    "    done\n"
    "}\n"
    "if [[ ${funcstack[1]-} == _streamrun ]]; then\n"
    "    _streamrun \"$@\"\n"
    "else\n"
    "    compdef _streamrun streamrun\n"
    "fi\n";

static const char completion_fish[] =
    "# Completion of streamrun for fish: streamrun completion fish | source\n"
    "function __streamrun_words\n"
    "    set -l words (commandline -opc)\n"
    "    set -l word (commandline -ct)\n"
    "    for line in (command streamrun completion words -- $words[2..-1] \"$word\" 2>/dev/null)\n"
    "        switch $line\n"
    "            case ':files'\n"
    "                __fish_complete_path \"$word\"\n"
    "            case ':dirs'\n"
    "                __fish_complete_directories \"$word\"\n"
    "            case '*'\n"
    "                echo $line\n"
    "        end\n"
    "    end\n"
    "end\n"
    "complete -c streamrun -f -a '(__streamrun_words)'\n";

enum cli_exit command_completion(struct cli *c, const struct args *a)
{
    static const struct {
        const char *shell, *script;
    } all[] = {{"bash", completion_bash}, {"zsh", completion_zsh}, {"fish", completion_fish}};
    const char *what = a->words > 0 ? a->word[0] : "";
    if (strcmp(what, "words") == 0) {
        complete_words(c, a->word + 1, a->words - 1);
        return CLI_OK;
    }
    for (size_t i = 0; a->words == 1 && i < sizeof(all) / sizeof(all[0]); i++) {
        if (strcmp(all[i].shell, what) != 0) continue;
        if (c->is_json) {
            show_json(c, json_pack("{s:s, s:s}", "shell", what, "script", all[i].script));
        } else {
            fputs(all[i].script, c->out);
        }
        return CLI_OK;
    }
    return cli_fail(c, CLI_USAGE, "completion: say bash, zsh or fish");
}
