/* Yardstick: JSON lines filter and projection by a bare simdjson loop. json_loop IN OUT
 *
 * Rows with price > 1000000 give {"auction":..,"price":..,"channel":".."}; strings are copied as
 * they stand. */
#include <fcntl.h>
#include <simdjson.h>
#include <string>
#include <unistd.h>

int main(int argc, char **argv)
{
    if (argc < 3) return 2;
    simdjson::padded_string json;
    if (simdjson::padded_string::load(argv[1]).get(json)) return 1;
    int fd = open(argv[2], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    std::string out;
    out.reserve(1 << 19);
    simdjson::ondemand::parser parser;
    simdjson::ondemand::document_stream docs;
    if (parser.iterate_many(json, 1 << 20).get(docs)) return 1;
    char number[32];
    for (auto doc : docs) {
        simdjson::ondemand::object object;
        if (doc.get_object().get(object)) return 1;
        int64_t auction = 0, price = 0;
        std::string_view channel, key;
        for (auto field : object) {
            if (field.unescaped_key().get(key)) return 1;
            if (key == "auction") {
                if (field.value().get_int64().get(auction)) return 1;
            } else if (key == "price") {
                if (field.value().get_int64().get(price)) return 1;
            } else if (key == "channel") {
                if (field.value().get_string().get(channel)) return 1;
            }
        }
        if (price <= 1000000) continue;
        out.append("{\"auction\":");
        out.append(number, (size_t)snprintf(number, sizeof(number), "%ld", auction));
        out.append(",\"price\":");
        out.append(number, (size_t)snprintf(number, sizeof(number), "%ld", price));
        out.append(",\"channel\":\"");
        out.append(channel);
        out.append("\"}\n");
        if (out.size() > (1 << 18)) {
            if (write(fd, out.data(), out.size()) < 0) return 1;
            out.clear();
        }
    }
    if (write(fd, out.data(), out.size()) < 0) return 1;
    return 0;
}
