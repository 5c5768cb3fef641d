/* aws_host.c - see aws_host.h. Pure. What it does not know it does not guess: the line then has to
 * say service= and region=. */
#include "policy/aws_host.h"

#include "base/str.h"

#include <stdio.h>
#include <string.h>

/* Names of endpoints whose signatures carry another service. */
static const struct {
        const char *label, *service;
} other_names[] = {
        {"appsync-api", "appsync"},
        {"bedrock-agent", "bedrock"},
        {"bedrock-agent-runtime", "bedrock"},
        {"bedrock-runtime", "bedrock"},
        {"data-ats", "iotdata"},
        {"data-kinesis", "kinesis"},
        {"control-kinesis", "kinesis"},
        {"ddb", "dynamodb"},
        {"email", "ses"},
        {"lambda-url", "lambda"},
        {"marketplace", "aws-marketplace"},
        {"queue", "sqs"},
        {"runtime-v2-lex", "lex"},
        {"models-v2-lex", "lex"},
        {"s3-accelerate", "s3"},
        {"s3-accesspoint", "s3"},
        {"s3-control", "s3"},
        {"s3express-control", "s3express"},
        {"transcribestreaming", "transcribe"},
};

/* These are what they are, though they begin like names of S3 with a region behind a hyphen. */
static const char *const s3_services[] = {"s3", "s3express", "s3-object-lambda", "s3-outposts"};

bool aws_service_is_s3(const char *p, size_t n)
{
        for (size_t i = 0; i < sizeof s3_services / sizeof *s3_services; i++)
                if (strlen(s3_services[i]) == n && memcmp(p, s3_services[i], n) == 0)
                        return true;
        return false;
}

/* eu-west-1, us-gov-east-1, ap-southeast-2: letters, at least one more word, a number. */
static bool is_region(const char *s)
{
        size_t letters = strspn(s, "abcdefghijklmnopqrstuvwxyz");
        size_t words = 0;
        if (letters < 2 || letters > 4)
                return false;
        for (s += letters; *s == '-'; words++) {
                s++;
                size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyz");
                if (n == 0) {
                        n = strspn(s, "0123456789");
                        return words > 0 && n > 0 && n <= 2 && !s[n];
                }
                s += n;
        }
        return false;
}

static bool is_taken(char *host, const char *suffix)
{
        if (!str_ends(host, suffix) || strlen(host) == strlen(suffix))
                return false;
        host[strlen(host) - strlen(suffix)] = 0;
        return true;
}

static void set_service(struct aws_host *out, const char *label)
{
        char text[64];
        snprintf(text, sizeof text, "%s", label);
        if (str_ends(text, "-fips"))
                text[strlen(text) - 5] = 0;
        for (size_t i = 0; i < sizeof other_names / sizeof *other_names; i++)
                if (strcmp(text, other_names[i].label) == 0)
                        snprintf(text, sizeof text, "%s", other_names[i].service);
        snprintf(out->service, sizeof out->service, "%s", text);
}

/* A label of the old form s3-eu-west-1. */
static bool is_old_s3(const char *label)
{
        return str_starts(label, "s3-") && is_region(label + 3);
}

bool aws_host_of(const char *host, struct aws_host *out)
{
        char text[256];
        char *labels[32];
        size_t n = 0, region = SIZE_MAX;
        *out = (struct aws_host){0};
        if ((size_t)snprintf(text, sizeof text, "%s", host) >= sizeof text)
                return false;
        if (!is_taken(text, ".amazonaws.com") && !is_taken(text, ".amazonaws.com.cn") &&
            !is_taken(text, ".api.aws") && !is_taken(text, ".on.aws"))
                return false;
        for (char *p = text, *save = NULL; (p = strtok_r(p, ".", &save)) != NULL; p = NULL) {
                if (n == sizeof labels / sizeof *labels)
                        return false;
                if (strcmp(p, "dualstack") != 0 && strlen(p) < sizeof out->service)
                        labels[n++] = p;
        }
        if (n == 0)
                return false;

        /* Only the end of the name is AWS's own; what stands before may be a bucket's name, which
         * may look like anything. */
        if (is_region(labels[n - 1]))
                region = n - 1;
        else if (n > 1 && is_region(labels[n - 2]) && !str_starts(labels[n - 1], "s3"))
                region = n - 2;
        if (is_old_s3(labels[n - 1])) {
                snprintf(out->service, sizeof out->service, "s3");
                snprintf(out->region, sizeof out->region, "%s", labels[n - 1] + 3);
                return true;
        }
        if (region != SIZE_MAX) {
                if (n == 1)
                        return false;
                snprintf(out->region, sizeof out->region, "%s", labels[region]);
                set_service(out, region == n - 1 ? labels[n - 2] : labels[n - 1]);
                return true;
        }
        /* Without a region: what is one for the whole world signs for us-east-1; the names of S3
         * lead to the region of the bucket. */
        set_service(out, labels[n - 1]);
        if (strcmp(out->service, "s3") == 0)
                return true;
        if (n != 1)
                return false;
        snprintf(out->region, sizeof out->region, "us-east-1");
        return true;
}
